void run_klib(int* p);
void run_olib(int* p);
void run_parts(int* p);
void run_sh(int* p);
__global__ void k(int* p) { *p = 1; }
int main() {
  k<<<1, 1>>>(nullptr);
  run_klib(nullptr);
  run_olib(nullptr);
  run_parts(nullptr);
  run_sh(nullptr);
}
