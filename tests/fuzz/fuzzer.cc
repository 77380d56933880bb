// What libFuzzer calls; one program a target.
#include <string_view>

#include "mutate/mutate.h"
#include "targets.h"

using namespace archguard;

namespace {

#define ARCHGUARD_TEXT_OF(name) #name
#define ARCHGUARD_NAME_OF(target) ARCHGUARD_TEXT_OF(target)
// The input of `entry` begins with the first entry: the target puts the header before it.
constexpr fuzz::Start kStart = std::string_view(ARCHGUARD_NAME_OF(ARCHGUARD_FUZZ_TARGET)) == "entry"
                                   ? fuzz::Start::entries
                                   : fuzz::Start::magic;

}  // namespace

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                      const std::uint8_t* other, std::size_t other_size, std::uint8_t* out,
                                      std::size_t most, unsigned seed);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ARCHGUARD_FUZZ_TARGET({data, size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, kStart, LLVMFuzzerMutate);
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                      const std::uint8_t* other, std::size_t other_size, std::uint8_t* out,
                                      std::size_t most, unsigned seed) {
  return fuzz::cross_over({one, one_size}, {other, other_size}, out, most, seed, kStart);
}
}
