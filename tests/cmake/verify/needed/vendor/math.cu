void inner();
__global__ void kernel(int* x) { *x = 3; }
void math() { inner(); }
