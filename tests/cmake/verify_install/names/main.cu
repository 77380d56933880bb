__global__ void start(int* x) { *x = 2; }
int main() { return 0; }
