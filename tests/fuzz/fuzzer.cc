// What libFuzzer calls; one program a target.
#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  archguard::fuzz::ARCHGUARD_FUZZ_TARGET({data, size});
  return 0;
}
