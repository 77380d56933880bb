void inner();
__global__ void engine_kernel(int* x) { *x = 1; }
void engine() {
  engine_kernel<<<1, 1>>>(nullptr);
  inner();
}
