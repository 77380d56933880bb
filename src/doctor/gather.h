#pragma once

#include <map>
#include <string>
#include <vector>

#include "doctor/facts.h"

namespace archguard::doctor {

struct GatherQuestion {
  std::string home;  // of the user, where torch keeps what it builds; empty: it is not looked at
  std::string loader_cache = "/etc/ld.so.cache";
};

// Reads what facts.environments hold, and where the loader looks, into `facts`. Devices, variables and
// environments are there already. Nothing is loaded and nothing is started.
void gather(const GatherQuestion& question, Facts& facts);

// ---- its parts ----

struct FoundFiles {
  std::vector<std::string> libraries;  // named *.so, *.so.*, *.pyd, *.dll
  std::vector<std::string> images;     // .cubin, .fatbin, .ptx
  std::vector<std::string> ptxas;
  std::vector<std::string> named;    // files that were named themselves
  std::vector<std::string> modules;  // *.py of packages, where an error was given
};
FoundFiles walk_environments(Facts& facts);

// The headers of one file's fat binaries, judged for the classes. What could not be read goes to `unread`.
// Nothing where it holds no device code.
std::optional<CodeFile> read_code_file(const std::string& path, const Facts& facts,
                                       std::vector<Error>& unread);

// Is the file of a kind that may hold device code? One that cannot be read is told by who reads it.
bool is_program_or_library(const std::string& path);

// Functions that these files want of torch and the installed one does not define: some of them, by file.
using NamesByFile = std::map<std::string, std::vector<std::string>>;
NamesByFile missing_in_torch(const Facts& facts, const std::vector<std::string>& paths);

// Those that the error of a loader names: "undefined symbol: ncclMemFree".
std::vector<std::string> undefined_symbols(const std::string& text);

// Libraries of CUDA's that it says could not be loaded: "libcublas.so.12".
std::vector<std::string> libraries_not_loaded(const std::string& text);

// Who opens by their names what the given error says could not be loaded.
void gather_opened(Facts& facts);

// The check of the GPU in Python source that the given error comes from.
void gather_gate(const FoundFiles& files, Facts& facts);

void gather_packages(Facts& facts);
void gather_libraries(const FoundFiles& files, const GatherQuestion& question, Facts& facts);
void gather_tools(const FoundFiles& files, Facts& facts);
void gather_symbols(const GatherQuestion& question, Facts& facts);
void gather_stale(const GatherQuestion& question, Facts& facts);

// The package of this normal name (releases/releases.h); null where none is installed.
const InstalledPackage* installed_package(const Facts& facts, std::string_view name);
// What the environment variable says; empty where it is not set.
std::string variable(const Facts& facts, const std::string& name);
// The folders of a list like PATH, without empty ones.
std::vector<std::string> folders_of_list(const std::string& list);
std::string file_name_of(const std::string& path);
bool is_made_for_one_torch(std::string_view name);  // whose releases each name the torch that they need
bool is_image_name(const std::string& name);        // .cubin, .fatbin, .ptx

}  // namespace archguard::doctor
