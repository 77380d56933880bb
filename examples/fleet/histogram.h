#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

// Adds to counts[b] how often each byte b stands in text[0, size). Both are memory of the GPU; counts has 256 elements.
cudaError_t histogram(const unsigned char* text, std::size_t size, unsigned int* counts);
