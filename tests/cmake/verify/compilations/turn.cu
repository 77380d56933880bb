__global__ void turn(float* x) { x[threadIdx.x] -= 2; }
