#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands.h"

namespace archguard {

enum class Severity { error, warn, off };

// What archguard_verify wrote of a target while CMake configured and generated.
struct TargetParameters {
  std::string target;
  bool named = false;                          // in TARGETS; else found by ALL
  std::vector<std::string> cuda_sources;       // file names; a target without them may hold images as data
  Severity severity = Severity::error;         // of a failed check
  Severity device_severity = Severity::error;  // of a device that is not covered
  bool has_devices = false;
  bool together = false;                     // its file is judged with those of other targets, elsewhere
  VerifyOptions verify;                      // of the target's own file
  Severity needed = Severity::off;           // of the libraries that it needs
  VerifyOptions needed_verify;               // of these
  std::map<std::string, std::string> words;  // what `native`, `all` and `all-major` stand for here
  std::vector<std::string> files, objects;   // as CMake built them, files below `folder` by their short name
  bool is_in_default_build = true;           // the check; else the target archguard_verify alone asks for it
  std::string architectures;                 // CUDA_ARCHITECTURES, `;` between; empty where flags choose
  std::string text;                          // of both files: another text is another question
};

// `parameters` is JSON, what one call of archguard_verify asks of each of its targets; `built` has what is
// known of these, a line for each path and property, those of one target behind its name.
Result<std::vector<TargetParameters>> read_target_parameters(const std::string& parameters,
                                                             const std::string& built);

// What was written of files that are judged together.
struct FilesParameters {
  std::string subject;  // "what was installed"
  Severity severity = Severity::error;
  VerifyOptions verify;
};
Result<FilesParameters> read_files_parameters(const std::string& parameters);

// CMake's own idea of a false value: "", 0, OFF, NO, FALSE, N, IGNORE, NOTFOUND, …-NOTFOUND, in any case.
bool is_cmake_false(std::string_view value);

}  // namespace archguard
