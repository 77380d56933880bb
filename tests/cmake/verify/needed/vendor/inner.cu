__global__ void inner_kernel(int* x) { *x = 4; }
void inner() {}
