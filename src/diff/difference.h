#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/match.h"
#include "diff/side.h"

namespace archguard {

// Devices that lose the same of one file.
struct CoverageLoss {
  enum class How {
    falls,    // the file is not covered any more, or some of what ran there does not
    gone,     // the file is not there any more, or holds no device code
    comes,    // the file is new and not covered there, where all of OLD was
    unknown,  // it cannot be told whether one of these is so
  };
  How how = How::falls;
  std::optional<std::size_t> before, after;  // the file, indices; one may be missing
  std::vector<std::size_t> devices;          // indices
  bool was_covered = false;                  // the whole file was, not some names of it alone
  std::vector<DiffName> names;               // that ran there and do not any more, or maybe; may be empty
  DiffVerdict verdict;                       // of the new file, without `not_all`; empty where it is gone
};

// What became of OLD in NEW.
struct Difference {
  DiffSide before, after;  // judged for the same devices
  std::vector<FilePair> files;
  std::vector<CoverageLoss> losses;
  std::vector<std::size_t> gained;    // devices that a file covers now, and did not: indices
  std::vector<std::size_t> ptx_went;  // files of `after` whose last PTX went, that newer devices compile
  std::optional<std::uint64_t> grow;  // the most that the bytes of device code may grow, in percent
};

// `before` and `after` were judged for the same devices in the same order.
Difference difference_of(DiffSide before, DiffSide after);

DiffSizes sizes_of(const DiffSide& side);
// How much larger `is` is than `was`, in percent, rounded up to tenths, as every report says it: what grew
// too much never reads as if it had not. Nothing where `was` is 0 and `is` is not.
std::optional<double> percent_of_growth(std::uint64_t was, std::uint64_t is);
std::optional<double> growth_of(const Difference& difference);
bool grew_too_much(const Difference& difference);

// Can something not be told: it was not read, or a verdict is unknown?
bool is_untold(const Difference& difference);
bool is_lost(const Difference& difference);

}  // namespace archguard
