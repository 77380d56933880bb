extern "C" const char blob[];
__global__ void own(float* x) { *x = 1; }
int main() {
  own<<<1, 1>>>(nullptr);
  return blob[0] == 0;
}
