__global__ void inner_kernel(int* x) { *x = 2; }
void inner() { inner_kernel<<<1, 1>>>(nullptr); }
