#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/findings.h"

namespace archguard {

// A place in the sources, for annotations.
struct SourcePlace {
  std::string path;      // relative to ReportOptions::root where it is below it; else absolute
  std::size_t line = 0;  // 0: the file as a whole
};

// Of a finding: the line of the fleet file that names the first of its devices; else the first file that was
// judged. Nothing where neither is a file.
std::optional<SourcePlace> place_of(const Verification& verification, const Finding& finding,
                                    const ReportOptions& options);

// The path of a file for a reader at `root`, without "." and "..".
std::string path_below_root(const std::string& path, const ReportOptions& options);

// The place that a device's origin names, "fleet.csv:4".
std::optional<SourcePlace> place_of_device(const Device& device, const ReportOptions& options);

// A URI reference of a path (RFC 3986): relative as it is, or file:///….
std::string uri_of(const std::string& path);

}  // namespace archguard
