__global__ void code(int* out) { *out = 1; }
