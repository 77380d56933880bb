#pragma once

#include <string>
#include <utility>

#include "base/text_source.h"
#include "coverage/verification.h"
#include "report/style.h"

namespace archguard {

// What a report says, beside what was found; a format takes what it has a use for.
struct ReportOptions {
  Style style;
  bool brief = false;        // only what fails, what is warned of, and one line a file
  bool full = false;         // name every file and device of a failure; else the first few
  std::size_t columns = 0;   // names are cut so that they leave room in a line of that width; 0: never
  bool hint_scope = false;   // name --scope library where some fat binaries fit and others do not
  std::string version = {};  // of the program
  // What other runs join, beside what a document tells: once, and of each file. Empty: nothing.
  std::string record = {};
  std::string (*record_of_file)(const FileResult&) = nullptr;
  // Paths of files stand in some formats relative to `root`, the folder of the sources; those that are
  // relative already are so to `folder`, where the program runs. Both are absolute, or empty.
  std::string folder = {}, root = {};
};

// What verify found, in one format: write_to() makes the document. formats.h names all of them.
class Report : public TextSource {
 public:
  explicit Report(const Verification& verification, ReportOptions options = {})
      : verification_(verification), options_(std::move(options)) {}

 protected:
  const Verification& verification_;
  const ReportOptions options_;
};

}  // namespace archguard
