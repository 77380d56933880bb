__global__ void other(int* x) { *x = 4; }
