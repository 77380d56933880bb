#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/failure_text.h"

namespace archguard {

// What verify warns of: written here alone, for every report. Nothing of it is escaped.
struct Warning {
  enum class Kind { of_file, partly, hollow, unnamed, runtime, embedded, for_others, any_of, whole_run };
  Kind kind = Kind::of_file;
  std::string where = {};  // empty: of no one file
  std::string what = {};
  std::string cause = {}, fix = {};     // empty where there is none
  std::vector<std::string> names = {};  // mangled: of what `what` speaks, in a list that may be shortened
  // The list stands at the end of `what`; or, of several names, in a detail "missing".
  bool names_in_detail = false;
  std::vector<std::size_t> files = {}, classes = {};  // indices; empty: of all, or of none
};

// In the order in which the report for people has them. Of one file: what its bytes give rise to, then what
// each device gets (nothing where that is not to be told), then that others are served.
std::vector<Warning> warnings_of_bytes(const Verification& verification, std::size_t file);
std::vector<Warning> warnings_of_device(const Verification& verification, std::size_t file,
                                        std::size_t device_class);
std::vector<Warning> warnings_for_others(const Verification& verification, std::size_t file);
std::optional<Warning> warning_of(const Verification& verification, const AnyOf& group);
// Of no file: waivers, fleets and devices.
std::vector<Warning> warnings_of_run(const Verification& verification);
// All of them.
std::vector<Warning> warnings_of(const Verification& verification);

// Names in a report are cut so that they leave room in `columns`; 0: never.
FailureText text_of(const Warning& warning, std::size_t columns);

}  // namespace archguard
