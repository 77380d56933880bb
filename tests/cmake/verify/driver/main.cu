__global__ void kernel(float* data) {
  data[threadIdx.x] *= 2;
}

int main() {
  kernel<<<1, 1>>>(nullptr);
  return cudaDeviceSynchronize();
}
