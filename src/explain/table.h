#pragma once

#include <string>
#include <vector>

#include "explain/facts.h"

namespace archguard {

// What is nearer to the cause of several errors of one text.
enum class Depth { cause, error, consequence, symptom };

// An error that is known. In what it says, {CC} is the device that the text names, {ARCH} the architecture.
struct KnownError {
  const char* id;
  Depth depth;
  std::vector<const char*> findings;
  std::vector<int> codes;             // numbers of CUDA, with all their names (compat/error_codes.h)
  std::vector<const char*> patterns;  // texts: explain/pasted_text.h
  const char* meaning;
  std::vector<const char*> causes;
  const char* check;
  const char* fix;
  const char* sure;
  Tell tell = nullptr;
  int old_code = 0;  // the number of the first of `codes` in the runtime before CUDA 10.1; 0: not known
};

const std::vector<KnownError>& cuda_errors();  // numbers
const std::vector<KnownError>& tool_errors();  // nvcc, ptxas, NVRTC, CMake, the loader, the driver's tools
const std::vector<KnownError>& framework_errors();  // PyTorch and those who use CUDA

}  // namespace archguard
