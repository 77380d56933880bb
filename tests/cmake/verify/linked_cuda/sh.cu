void run_inner(int* p);
__global__ void k_sh(int* p) { *p = 1; }
void run_sh(int* p) {
  k_sh<<<1, 1>>>(p);
  run_inner(p);
}
