__global__ void kernel(int* x) { *x = 1; }
void run() { kernel<<<1, 1>>>(nullptr); }
