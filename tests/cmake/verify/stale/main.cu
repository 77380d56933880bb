#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void needs_hopper(int* x) { *x = 1; }
#endif
__global__ void start(int* x) { *x = 2; }
int main() { return 0; }
