#include "histogram.h"

namespace {

__global__ void count_bytes(const unsigned char* text, std::size_t size, unsigned int* counts) {
  __shared__ unsigned int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step)
    atomicAdd(&local[text[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

}  // namespace

cudaError_t histogram(const unsigned char* text, std::size_t size, unsigned int* counts) {
  count_bytes<<<32, 256>>>(text, size, counts);
  return cudaGetLastError();
}
