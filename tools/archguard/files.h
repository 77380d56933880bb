#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"

namespace archguard {

struct InputFile {
  std::string path;
  bool named =
      true;  // on the command line; else found in a folder, where files of other formats are passed over
};

// The files that the paths name; folders are walked in sorted order, links in them are not followed.
Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths);

// Reads one file and hands it over, a zip file member by member. A file that cannot be opened is handed over as its error, with an empty
// source. What was found in a folder and is no binary is passed over.
void visit_file(const InputFile& input,
                const std::function<void(const DeviceCode&, const ByteSource&)>& visit);

// A whole small text file, at most 64 MiB.
Result<std::string> read_text_file(const std::string& path);

}  // namespace archguard
