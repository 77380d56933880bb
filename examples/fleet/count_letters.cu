// Counts the letters of a sentence on the GPU, and prints the most frequent one.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "histogram.h"

static void check(cudaError_t error, const char* step) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: error %d: %s\n", step, static_cast<int>(error), cudaGetErrorString(error));
  std::exit(1);
}

__global__ void to_lower(unsigned char* text, std::size_t size) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size && text[i] >= 'A' && text[i] <= 'Z') text[i] += 'a' - 'A';
}

int main() {
  const char sentence[] = "Every GPU of the fleet Executes the kErnEl that was Embedded for it";
  const std::size_t size = std::strlen(sentence);
  unsigned char* text = nullptr;
  unsigned int* counts = nullptr;
  check(cudaMalloc(&text, size), "allocate the text");
  check(cudaMalloc(&counts, 256 * sizeof(unsigned int)), "allocate the counts");
  check(cudaMemset(counts, 0, 256 * sizeof(unsigned int)), "clear the counts");
  check(cudaMemcpy(text, sentence, size, cudaMemcpyHostToDevice), "copy the text");

  to_lower<<<1, 256>>>(text, size);
  check(cudaGetLastError(), "launch to_lower");
  check(histogram(text, size, counts), "launch histogram");

  unsigned int result[256];
  check(cudaMemcpy(result, counts, sizeof(result), cudaMemcpyDeviceToHost), "copy the counts back");
  int best = 'a';
  for (int letter = 'a'; letter <= 'z'; ++letter)
    if (result[letter] > result[best]) best = letter;
  std::printf("most frequent: '%c', %u times\n", best, result[best]);
  check(cudaFree(text), "free the text");
  check(cudaFree(counts), "free the counts");
  return 0;
}
