__global__ void shift(float* x) { x[threadIdx.x] += 2; }
