// y = a * x + y on the GPU. Without a GPU, or with one that this program was not built for, it says so and exits with 1.
#include <cstdio>
#include <cstdlib>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

static void check(cudaError_t error, const char* step) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: error %d: %s\n", step, static_cast<int>(error), cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  constexpr int n = 1 << 20;
  float *x = nullptr, *y = nullptr;
  check(cudaMallocManaged(&x, n * sizeof(float)), "allocate x");
  check(cudaMallocManaged(&y, n * sizeof(float)), "allocate y");
  for (int i = 0; i < n; ++i) {
    x[i] = 1.0f;
    y[i] = 2.0f;
  }

  saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, x, y);
  check(cudaGetLastError(), "launch saxpy");  // error 209 would show here
  check(cudaDeviceSynchronize(), "run saxpy");

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 5.0f;
  std::printf("saxpy: %d elements, %d wrong\n", n, wrong);
  check(cudaFree(x), "free x");
  check(cudaFree(y), "free y");
  return wrong == 0 ? 0 : 1;
}
