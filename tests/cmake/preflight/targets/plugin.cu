#include <cstdio>

__global__ void twice(float* x) { *x *= 2; }

int plugin() {
  twice<<<1, 1>>>(nullptr);
  std::puts("plugin goes on");
  return 0;
}
