#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

// Where the loader looks beside what a file itself names.
struct LoaderFolders {
  std::string library_path;  // LD_LIBRARY_PATH
  std::string sysroot;       // the root of the system that the file is for; empty: this one
  std::string cache = "/etc/ld.so.cache";
  std::vector<std::string> defaults = {};  // empty: those of glibc for the file's machine
  // Asked last, and not by the loader: where the linker found what was linked with (ld's -rpath-link).
  std::vector<std::string> rpath_link = {};
};

// A library that was found.
struct NeededLibrary {
  std::string name;       // as DT_NEEDED has it
  std::string path;       // where the loader finds it, or else the linker
  std::string needed_by;  // the file that names it
  bool by_linker;         // found in rpath_link alone
};

// One that was not found.
struct MissingLibrary {
  std::string name, needed_by;
  std::vector<std::string> searched;  // folders and the cache, in the order they were looked into
};

struct NeededLibraries {
  std::vector<NeededLibrary> found;  // breadth first, as the loader loads them, each once
  std::vector<MissingLibrary> missing;
  std::vector<std::string> passed_over;  // those of the driver, and missing ones of the C and C++ runtimes
  std::vector<Error> errors;             // dynamic sections that could not be read
  // Paths that the answer rests on beside those of `found`, each once: where a library was looked for and
  // none is, or none that the loader takes; other names of what was found; the loader's cache.
  std::vector<std::string> tried;
  bool tried_whole = true;  // false: there are more of them than are kept
};

// All libraries that the file at `path` needs, found as ld.so(8) finds them, and then by
// rpath_link; nothing for what is no linked
// ELF file. Which of the subfolders for newer processors (glibc-hwcaps) the loader looks into depends on the
// processor: what stands in any of them is found, too.
NeededLibraries needed_libraries(const std::string& path, const LoaderFolders& folders);

// Is it one of the NVIDIA driver's, by its name? It comes with the machine that runs the program, and its
// code is its own: libcuda.so.1, libnvidia-ml.so.1.
bool is_driver_library(const std::string& name);

}  // namespace archguard
