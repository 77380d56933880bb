#include <cstdio>

__global__ void scale(float* x, float factor) { x[threadIdx.x] *= factor; }

int main() {
  float* x = nullptr;
  cudaError_t error = cudaMallocManaged(&x, 32 * sizeof(float));
  if (error == cudaSuccess) {
    scale<<<1, 32>>>(x, 2.0f);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "error %d: %s\n", static_cast<int>(error), cudaGetErrorString(error));
    return 1;
  }
  std::printf("scaled\n");
  return 0;
}
