#include <cstddef>
#include <cstdio>

// Its kernels are those of the library.
int plugin();
extern "C" int cudaMalloc(void** pointer, std::size_t size);

int main() {
  void* pointer = nullptr;
  cudaMalloc(&pointer, 1);
  return plugin();
}
