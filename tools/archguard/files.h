#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "fatbin/passed_over.h"

namespace archguard {

// The text of a file that an option names, which the error names, too.
Result<std::string> read_file_of_option(const std::string& option, const std::string& path);

struct InputFile {
  std::string path;
  bool named =
      true;  // on the command line; else found in a folder, where files of other formats are passed over
  std::optional<Error> error;  // a folder that could not be walked whole
  std::string needed_by = {};  // the file that needs this library, with --needed; else empty
  bool by_linker = false;      // it was found with --rpath-link alone
  std::vector<std::string> needs =
      {};  // with --needed: the paths of all libraries that it needs, in turn, too
  std::string found_under =
      {};  // the folder that was named and walked; empty for a file that was named itself
};

// The files that the paths name, in folders those that walk() finds there. `list` is a file of further paths,
// one a line or each ended by NUL, which count as found in a folder; empty: none.
Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths, const std::string& list,
                                          PassedOver& passed_over);

// Passes over the folders among the paths that hold no file. `files` are those of all paths. Where none of
// them is a binary, that is told of all paths instead.
void pass_over_empty(const std::vector<std::string>& paths, const std::vector<InputFile>& files,
                     PassedOver& passed_over);

// What was looked through, for no_binary_text(): the list, where there is one, by its name in messages.
std::vector<std::string> paths_and_list(std::vector<std::string> paths, const std::string& list);

using VisitCode = std::function<void(const InputFile&, const DeviceCode&, const ByteSource&)>;

// How far the work on files is: how many are done, and how many members of the zip file whose turn it is, of
// how many.
struct FilesDone {
  std::size_t files = 0;
  std::uint64_t members = 0, of_members = 0;
  std::string_view path = {};  // of that file
};
using FilesProgress = std::function<void(const FilesDone&)>;

// Reads the files, several at a time, and hands them over one by one in their order, a zip file member by
// member. One that cannot be opened is handed over as its error, with an empty source. What was found in a
// folder and is no binary is passed over. `progress` is told before each file, and before each member of a
// zip file. While one is read on all cores, no other file is begun.
void visit_files(const std::vector<InputFile>& files, const VisitCode& visit, const FilesProgress& progress,
                 PassedOver& passed_over, Keep keep = Keep::all);

}  // namespace archguard
