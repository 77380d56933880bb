#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coverage/verify.h"

namespace archguard {

struct Verification;

// What the files of one group say of one class of devices.
struct AnyOfDevice {
  Coverage coverage = Coverage::unknown;
  std::vector<std::size_t> covered_by;  // indices of files; what is least to be remarked on comes first
};

// Files of which a device needs one (--any-of): a package that ships a library for each CUDA release, or a
// plugin for each architecture. A program picks among the files that it was shipped with, so the files that a
// glob matches are a group for each place where they stand. See docs/reference/verdicts.md.
struct AnyOf {
  std::string glob;
  // The outermost zip file of which the files are members; else the folder, see alternatives_place() in
  // any_of.cc. Empty where the glob matches no file with device code.
  std::string in;
  std::size_t place = 0, places = 1;  // which one of the groups of this glob, and of how many
  bool in_zip = false;
  std::vector<std::size_t> files;     // that match and hold device code, or may: indices of files
  std::uint64_t without_code = 0;     // that match, and hold none
  std::vector<AnyOfDevice> devices;   // one for each class
  std::vector<ExpectedImage> absent;  // that were expected, and that no file holds in each fat binary
  bool unread = false;                // what was expected may be in a file that was not read whole
};

// Is this glob the file's? It is matched as by the shell (`*` and `?` stop at `/`) with the file's path and
// every end of it that begins behind a `/`; in a zip file with those of the member's name and of
// `p.whl(pkg/x.so)`. A folder `.` counts in neither of them.
bool any_of_matches(const std::string& glob, const FileResult& file);

// Fills `any_of` of the verification, which has its files, and theirs. A file counts with the libraries that
// it needs; one that only alternatives need is asked for with them.
void find_alternatives(Verification& verification, const std::vector<std::string>& globs);

// Takes out of a file what that adds to it.
void forget_alternatives(FileResult& file);

// The file that a device of this class runs instead of this alternative, which does not cover it; nothing
// where a group of this file has none.
std::optional<std::size_t> covered_elsewhere(const Verification& verification, const FileResult& file,
                                             std::size_t device_class);

// Is what else is to be said of a file on such devices of interest? Of alternatives only that of the one
// which covers them.
bool is_to_be_told(const Verification& verification, const FileResult& file, std::size_t device_class);

// What was not read of this file may matter. Not where other alternatives cover every device.
bool errors_matter(const Verification& verification, const FileResult& file);

// The globs of which the file is an alternative; of a library that only alternatives need, theirs.
std::vector<std::size_t> globs_of(const Verification& verification, const FileResult& file);

// A glob for which some of these files are alternatives, as the user would type it; empty where no file holds
// device code.
std::string suggest_any_of(const Verification& verification);

}  // namespace archguard
