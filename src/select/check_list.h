#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "select/select.h"

namespace archguard {

// What a list of architectures that somebody else chose means for one device.
enum class ListVerdict { sass, jit, uncovered, unknown };
std::string to_string(ListVerdict verdict);  // "sass", "jit", "not-covered", "unknown"

struct ListJudgement {
  ListVerdict verdict = ListVerdict::unknown;
  int code = 0;        // 100, 209, 218 or 222 with `uncovered`, else 0
  std::string reason;  // lower-case, no full stop: "nothing in the list runs on 8.6"
  std::string fix;     // entries to add, in CMake's spelling ("86-real"); empty where this compiler has none
  std::string advice;  // what to do where no entry helps: its driver does not know the device
};

// Judges `list` for each kind of devices, by DeviceList::kind_number(), as a program compiled with it by
// `compiler` would behave there. A device without a known compute capability is `unknown`. Kinds that are not
// wanted, hidden or excluded by their fleet, are not judged. Pure.
std::vector<ListJudgement> judge_list(const DeviceList& devices, const Compiler& compiler,
                                      const std::vector<ArchEntry>& list);

struct UnmadeEntry {
  ArchEntry entry;
  std::string reason;  // "CUDA 13.0 makes no 61; the last toolkit that does is 12.9"
};

// The entries of `list` that this compiler cannot make, in the order of the list. One with a suffix that a
// release newer than the table may have brought is none of them. Pure.
std::vector<UnmadeEntry> unmade_entries(const Compiler& compiler, const std::vector<ArchEntry>& list);

}  // namespace archguard
