void math();
__global__ void start(int* x) { *x = 2; }
int main() { math(); }
