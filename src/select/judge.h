#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "select/select.h"

namespace archguard {

// What a list of architectures that somebody else chose means for one device.
enum class ListVerdict { sass, jit, uncovered, unknown };
std::string to_string(ListVerdict verdict);  // "sass", "jit", "not-covered", "unknown"

struct JudgedDevice {
  std::size_t device = 0;  // index into the devices
  ListVerdict verdict = ListVerdict::unknown;
  int code = 0;        // 209 or 222 with `uncovered`, else 0
  std::string reason;  // lower-case, no full stop: "nothing in the list runs on 8.6"
  std::string fix;     // entries to add, in CMake's spelling ("86-real"); empty where this compiler has none
};

// Judges `list` for each visible device, as a program compiled with it by `compiler` would behave there. A
// device without a known compute capability is `unknown`. Hidden devices are left out. Pure.
std::vector<JudgedDevice> judge_list(const std::vector<Device>& devices, const Compiler& compiler,
                                     const std::vector<ArchEntry>& list);

}  // namespace archguard
