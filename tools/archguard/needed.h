#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commands.h"
#include "coverage/functions_elsewhere.h"
#include "files.h"

namespace archguard {

// What was not simply found of the libraries that files need.
struct NeededReport {
  std::vector<std::string> passed_over;  // those of the driver, and missing ones of the C and C++ runtimes
  std::vector<Error> errors;             // not found, or not to be followed: then nothing is known of them
  // What the answer rests on beside the files and the libraries, as NeededLibraries has it.
  std::vector<std::string> tried;
  bool tried_whole = true;  // false: there is more that it rests on
};

enum class NeededFiles { beside, alone };

// Adds the libraries that the linked ELF files among `files` need, in this process's environment, behind
// them; each once, and none that is among them already. With `alone` they take their places; what no
// libraries can be told of (a folder that could not be walked, a zip file) is an error then, as nobody else
// looks at it.
NeededReport add_needed(std::vector<InputFile>& files, const NeededOptions& where, NeededFiles which);

// For verify_file(): asks the libraries that the file at `path` needs, in this process's environment.
AskElsewhere ask_libraries(const std::string& path, const NeededOptions& where);

// Refuses options that --needed gives a meaning to, given without it, and a sysroot that is none.
Status check_needed(bool asked, const NeededOptions& where, const std::string& list,
                    const std::vector<std::string>& cache);

// Whose libraries cannot be found: linked members of an archive, whose folders are not there yet.
bool is_linked_member(const DeviceCode& code);
Error needs_unpacking(const std::string& path);

}  // namespace archguard
