// Multiplies count numbers on the device.
__global__ void scale_kernel(float* values, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

extern "C" int scale(float* values, int count, float factor) {
  scale_kernel<<<(count + 255) / 256, 256>>>(values, count, factor);
  return cudaGetLastError();
}
