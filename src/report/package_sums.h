#pragma once

#include <cstddef>
#include <string>

#include "coverage/verification.h"
#include "report/style.h"

namespace archguard {

// How many files have which outcome.
struct OutcomeCounts {
  std::size_t covered = 0, not_covered = 0, unknown = 0;

  void add(Outcome outcome);
  std::size_t total() const { return covered + not_covered + unknown; }
};

// "3 covered, 2 not covered", coloured.
std::vector<Shown> shown(const OutcomeCounts& counts, Style style);

// A line for each package that files with device code belong to, those that fail first: "package torch 2.7.1
// (pip): 3 covered, 2 not covered"; those that are covered share a line, and of many that fail some have one
// of their own, unless `full`. Empty where no file is known to belong to any.
std::string package_sums(const Verification& verification, Style style, bool full);

}  // namespace archguard
