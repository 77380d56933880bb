#pragma once

#include <optional>
#include <set>
#include <string>

#include "coverage/fatbin_code.h"

namespace archguard {

// PTX of GCC's OpenMP or OpenACC, and nothing else?
bool is_of_gcc(const FatbinCode& code);

// What helps where such PTX is for newer devices alone.
inline constexpr const char* kOlderTargetOfGcc =
    "take -march and -misa out of GCC's -foffload-options, or name an older architecture there";

// The modules of PTX that mkoffload of GCC puts into a file as data: those of the program, of libgomp and of
// its C library. libgomp's plugin hands all of them to one link (cuLinkAddData) when the program runs, so
// that they are one module, which fits where each of them does. (libgomp, plugin-nvptx.c, link_ptx().)
class GccModules {
 public:
  void add(const std::string& place, const FatbinCode& code);

  struct Joined {
    std::string place;  // of the first with kernels
    FatbinCode code;
  };
  // Nothing where none holds a kernel.
  std::optional<Joined> join() const;

 private:
  std::string place_;              // empty: none with kernels so far
  std::optional<FatbinCode> all_;  // of one image, whose names come last
  std::set<std::string> defined_, wanted_;
};

}  // namespace archguard
