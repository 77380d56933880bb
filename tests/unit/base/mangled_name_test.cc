#include "base/mangled_name.h"

#include <doctest/doctest.h>
#include <string>

using namespace archguard;

namespace {

// "text|what follows", with `L` where it is static; "" of other names.
std::string last_of(const std::string& mangled) {
  const auto last = last_plain_name(mangled);
  if (!last) return {};
  CHECK(mangled.substr(last->begin, last->end - last->begin) ==
        std::to_string(last->text.size()) + std::string(last->text));
  CHECK(last->nested == (mangled[2] == 'N'));
  return (last->is_static ? "L" : "") + std::string(last->text) + "|" + mangled.substr(last->end);
}

}  // namespace

TEST_CASE("a mangled name begins with plain ones, of which the last tells what it is") {
  CHECK(last_of("_Z4fillPf") == "fill|Pf");
  CHECK(last_of("_ZL4fillPf") == "Lfill|Pf");
  CHECK(last_of("_Z4fillIfEvPT_") == "fill|IfEvPT_");
  CHECK(last_of("_ZN2ns4fillIfEEvPT_") == "fill|IfEEvPT_");
  CHECK(last_of("_ZN2nsL4fillEPf") == "Lfill|EPf");
  CHECK(last_of("_ZN12_GLOBAL__N_14fillEPf") == "fill|EPf");
  CHECK(last_of("_Z4fill3two") == "fill|3two");
  CHECK(last_of("_ZN1a1b") == "b|");
}

TEST_CASE("other names have no such beginning") {
  for (const char* other : {"", "_", "_Z", "_ZN", "_ZL", "_ZNL", "fill", "4fill", "_ZNSt4fillEv", "_ZZ1fvE1x",
                            "_Z99fill", "_ZN2ns99fillE", "_Z99999999999999999999999fill"})
    CHECK_MESSAGE(last_of(other) == "", other);
}
