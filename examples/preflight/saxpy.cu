#include <cstdio>

#include "archguard_preflight.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

int main() {
  try {
    archguard_preflight::require();  // before the GPU is used; throws where the code will not run
  } catch (const archguard_preflight::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }

  constexpr int n = 1 << 20;
  float *x = nullptr, *y = nullptr;
  if (cudaMallocManaged(&x, n * sizeof *x) != cudaSuccess || cudaMallocManaged(&y, n * sizeof *y) != cudaSuccess) {
    std::fprintf(stderr, "allocate: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (int i = 0; i < n; ++i) x[i] = y[i] = 1;
  saxpy<<<(n + 255) / 256, 256>>>(n, 2, x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "saxpy: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("y[0] = %g\n", static_cast<double>(y[0]));
}
