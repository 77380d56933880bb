#include "releases/table.h"

#include <iterator>

namespace archguard {
namespace {

#include "releases/table.inc"

}  // namespace

const std::vector<ReleaseRow>& release_rows() {
  static const std::vector<ReleaseRow> kRows(std::begin(kReleaseRows), std::end(kReleaseRows));
  return kRows;
}

const char* asked_devices() {
  return kAskedDevices;
}

}  // namespace archguard
