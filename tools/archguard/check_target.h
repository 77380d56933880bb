#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"
#include "target_parameters.h"

namespace archguard {

// What a check writes; where a path is empty, nothing.
struct CheckOutputs {
  std::string stamp;        // is touched when all is well, and gone otherwise
  std::string state;        // what each check came to, for the next one that asks the same of the same files
  std::string report_json;  // as verify writes it
  std::string attach;       // a page for the report of CTest, which is named as its tests name files
};

// Checks targets that CMake built: `archguard check-target`, which archguard_verify's build rules run. Beside
// the stamp it writes a depfile.
struct CheckTargetOptions : CheckOutputs {
  std::string parameters;     // JSON, written when CMake configured
  std::string built;          // lines, written when it generated
  std::string report_folder;  // JSON, a file for each target in this folder
  std::string only;           // of several targets this one
  bool post_build = false;  // says nothing when all is well, and lets the link step end well unless `strict`
  bool strict = false;
};
Result<int> run_check_target(const CheckTargetOptions& options);

// What such a check finds: of the devices, and where it fails for anything else, what that is. Without
// devices where it knows none.
Result<Verification> find_of_target(const TargetParameters& target);

// The same of files that are judged together, as check-files reads them.
Result<Verification> find_of_files(const std::string& parameters, const std::string& files);

// `archguard check-files`: checks files that are judged together, which `files` lists: what an install step
// put down, or alternatives.
struct CheckFilesOptions : CheckOutputs {
  std::string parameters, files;
  bool installed = false;            // `files` is what installed_paths() reads
  std::string destdir;               // $DESTDIR, for them
  std::string component;             // the one that is installed alone, or empty
  std::vector<std::string> reports;  // FORMAT=FILE
};
Result<int> run_check_files(const CheckFilesOptions& options);

// `archguard check-changes`: `list` names checks, a line each, which is the path of their files without
// .stamp, .state and .changed. Where a file that the state rests on is another one now, .changed is touched,
// which the rule of the check depends on.
struct CheckChangesOptions {
  std::string list;
};
Result<int> run_check_changes(const CheckChangesOptions& options);

// `archguard check-report`: one page of all checks of a build tree, made anew of what is built by now. `list`
// has lines, written when CMake generated: "target" or "files" begins a check, "parameters" and "built" name
// what the two commands above read, and "skip 1" leaves it out.
struct CheckReportOptions {
  std::string list;
  std::vector<std::string> reports;  // FORMAT=FILE
};
Result<int> run_check_report(const CheckReportOptions& options);

}  // namespace archguard
