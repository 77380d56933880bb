#include "compat/torch.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

std::string name(const char* arch, bool ptx = false) {
  return torch_name(parse_arch(arch).value(), ptx).value_or("none");
}

std::string text(std::optional<Arch> arch) {
  return arch ? to_string(*arch) : "none";
}

}  // namespace

TEST_CASE("the names that TORCH_CUDA_ARCH_LIST takes") {
  CHECK(name("80") == "8.0");
  CHECK(name("90a", true) == "9.0a+PTX");
  CHECK(name("121a") == "12.1a");
  for (const char* refused : {"88", "101", "107", "100f", "120f", "80a", "32", "130"})
    CHECK(name(refused) == "none");
}

TEST_CASE("the nearest to a name that torch does not take") {
  const auto nearest = [](const char* arch) { return text(nearest_in_torch(parse_arch(arch).value())); };
  CHECK(nearest("100f") == "100");
  CHECK(nearest("107") == "103");
  CHECK(nearest("88") == "none");
  CHECK(nearest("101") == "none");
  CHECK(nearest("80") == "none");
  CHECK(text(nearest_ptx_in_torch(parse_arch("88").value())) == "87");
  CHECK(text(nearest_ptx_in_torch(parse_arch("101").value())) == "100");
}
