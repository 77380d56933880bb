#pragma once

#include <string>

#include "base/result.h"

namespace archguard {

// Checks targets that CMake built: `archguard check-target`, which archguard_verify's build rules run.
struct CheckTargetOptions {
  std::string parameters;   // JSON, written when CMake configured
  std::string built;        // lines, written when it generated
  std::string stamp;        // is touched when all is well, and gone otherwise; beside it a depfile
  std::string state;        // what each check came to, for the next one that asks the same of the same files
  std::string report;       // JSON, as verify writes it
  std::string reports;      // the same, a file for each target in this folder
  std::string only;         // of several targets this one
  bool post_build = false;  // says nothing when all is well, and lets the link step end well unless `strict`
  bool strict = false;
};
Result<int> run_check_target(const CheckTargetOptions& options);

// `archguard check-files`: checks files that are judged together, which `files` lists: what an install step
// put down, or alternatives.
struct CheckFilesOptions {
  std::string parameters, files;
  bool installed = false;            // `files` is what installed_paths() reads
  std::string destdir;               // $DESTDIR, for them
  std::string component;             // the one that is installed alone, or empty
  std::string stamp, state, report;  // as above
};
Result<int> run_check_files(const CheckFilesOptions& options);

// `archguard check-changes`: `list` names checks, a line each, which is the path of their files without
// .stamp, .state and .changed. Where a file that the state rests on is another one now, .changed is touched,
// which the rule of the check depends on.
struct CheckChangesOptions {
  std::string list;
};
Result<int> run_check_changes(const CheckChangesOptions& options);

}  // namespace archguard
