template <int kNumber>
__global__ void kernel(int* x) {
  *x = kNumber;
}
template __global__ void kernel<1>(int*);
template __global__ void kernel<2>(int*);
template __global__ void kernel<3>(int*);
template __global__ void kernel<4>(int*);
template __global__ void kernel<5>(int*);
template __global__ void kernel<6>(int*);
template __global__ void kernel<7>(int*);
template __global__ void kernel<8>(int*);
template __global__ void kernel<9>(int*);
void math() {}
