__global__ void k_inner(int* p) { *p = 1; }
void run_inner(int* p) { k_inner<<<1, 1>>>(p); }
