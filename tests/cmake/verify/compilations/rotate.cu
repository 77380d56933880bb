__global__ void rotate(float* x) { x[threadIdx.x] -= 2; }
