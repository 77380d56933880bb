#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands.h"

namespace archguard {

// Which file each path leads to, as a text that differs where the file does; empty where none is there.
using FileStates = std::map<std::string, std::string>;

FileStates file_states(const std::vector<std::string>& paths);

// What a check of a target came to. It holds as long as the question and all files are the same.
struct CheckState {
  std::string question;
  FileStates files;                    // that the answer depends on, looked at before they were read
  std::vector<std::string> libraries;  // that the target needs, which only the check found; likewise
  // Where these were looked for as well: another file there is another answer, also where none was.
  std::vector<std::string> places;
  bool failed = false;
  bool complains = false;  // it failed, or warns
  std::string out;         // what is to be said on standard output
  std::string messages;    // and on standard error
};

struct FileState {
  std::string path, state;
};

// One that is kept beside the stamp of the check's rule.
struct KeptCheck {
  bool holds = false;  // else the next check is made anew
  std::string library_path;
  std::vector<FileState> files;  // of the check, its libraries and places
  CheckState check;
};

// Now, in ns since 1970, as files are stamped.
std::int64_t file_time_now();

// It does not hold where a file is missing or is another one by now, where a library was changed since the
// check `began`, or where the places were not tried whole.
KeptCheck keep_check(CheckState check, std::int64_t began, bool tried_whole);

// Those that a file keeps; none where it cannot be read whole.
std::vector<KeptCheck> read_kept_checks(const std::string& path);
void write_kept_checks(const std::string& path, const std::vector<KeptCheck>& checks);

// The one that answers `question` of the very files that are there now, or nothing.
const KeptCheck* find_check(const std::vector<KeptCheck>& checks, const std::string& question);

// The files that a question itself rests on: fleets, waivers, what was left out, and this program.
void add_inputs(const VerifyOptions& options, std::vector<std::string>& files);

// Looks for what changed since checks were kept, at each file once, however many of them rest on it.
class ChangedFiles {
 public:
  // Is a file that an answer kept in the file `kept` depends on another one now, or does one not hold?
  // Without that file: no, as then no check was made.
  bool has_changed(const std::string& kept);

 private:
  std::unordered_map<std::string, std::string> now_;  // FileStates
};

}  // namespace archguard
