__global__ void k_klib(int* p) { *p = 1; }
void run_klib(int* p) { k_klib<<<1, 1>>>(p); }
