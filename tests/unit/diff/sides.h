#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diff/side.h"

// What the tests of sides share.
namespace archguard::test {

inline DiffVerdict covered() {
  DiffVerdict verdict;
  verdict.coverage = Coverage::covered;
  return verdict;
}

inline DiffVerdict fails(const std::vector<std::size_t>& names, Runs runs = Runs::nowhere) {
  DiffVerdict verdict;
  verdict.coverage = Coverage::not_covered;
  verdict.code = 209;
  verdict.found = "sm_80 cubin";
  for (const std::size_t index : names) verdict.not_all.emplace_back(index, runs);
  return verdict;
}

inline DiffVerdict unknown() {
  return {};
}

// A file with the kernels a, b and c.
inline DiffFile file(const std::string& key, std::vector<DiffVerdict> verdicts, std::uint64_t size = 1000) {
  DiffFile file{key, {}, key, true};
  file.names = {{false, "a"}, {false, "b"}, {false, "c"}};
  file.sizes[{EntryKind::sass, Arch{80, Suffix::none}}] = {1, 3, size, size};
  file.verdicts = std::move(verdicts);
  return file;
}

// Judged for 7.5 and 8.0.
inline DiffSide side(std::vector<DiffFile> files) {
  DiffSide side;
  side.name = "side";
  side.archguard = "1";
  side.scope = "fatbin";
  side.embedded = "warn";
  side.devices = {{{7, 5}, {}}, {{8, 0}, Version{12, 4}}};
  side.files = std::move(files);
  return side;
}

}  // namespace archguard::test
