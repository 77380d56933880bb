#include "releases/table.h"

#include <cstring>

namespace archguard {
namespace {

// One text, each field with a zero behind it: pointers to thousands of fields would be relocated whenever the
// program starts, and few commands read the table.
#define RELEASE(package, version, platform, cuda, sass, sass_some, ptx, ptx_some, devices, ptxas, lacking,  \
                pythons, glibc, pins, measured)                                                             \
  package "\0" version "\0" platform "\0" cuda "\0" sass "\0" sass_some "\0" ptx "\0" ptx_some "\0" devices \
          "\0" ptxas "\0" lacking "\0" pythons "\0" glibc "\0" pins "\0" measured "\0"
#include "releases/table.inc"
#undef RELEASE

// The field at a place, which moves on to the next.
const char* take_field(const char*& at) {
  const char* const field = at;
  at += std::strlen(at) + 1;
  return field;
}

}  // namespace

const std::vector<ReleaseRow>& release_rows() {
  static const std::vector<ReleaseRow> kRows = [] {
    std::vector<ReleaseRow> rows;
    for (const char* at = kReleaseText; at != kReleaseText + sizeof kReleaseText - 1;) {
      ReleaseRow row;
      for (const char** field : {&row.package, &row.version, &row.platform, &row.cuda, &row.sass,
                                 &row.sass_some, &row.ptx, &row.ptx_some, &row.devices, &row.ptxas,
                                 &row.lacking, &row.pythons, &row.glibc, &row.pins, &row.measured})
        *field = take_field(at);
      rows.push_back(row);
    }
    return rows;
  }();
  return kRows;
}

const char* asked_devices() {
  return kAskedDevices;
}

}  // namespace archguard
