__global__ void start(int* x) { *x = 2; }
void math();
int main() { math(); }
