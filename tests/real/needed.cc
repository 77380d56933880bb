// Prints what needed_libraries() says of each file that is named: a line for the file, then a line for each
// library.
#include "loader/needed.h"

#include <cstdio>
#include <cstdlib>

using namespace archguard;

int main(int argc, char** argv) {
  LoaderFolders folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) folders.library_path = path;
  for (int i = 1; i < argc; ++i) {
    std::printf("%s\n", argv[i]);
    const NeededLibraries all = needed_libraries(argv[i], folders);
    for (const NeededLibrary& library : all.found)
      std::printf("\t%s => %s\n", library.name.c_str(), library.path.c_str());
    for (const MissingLibrary& library : all.missing)
      std::printf("\t%s => not found\n", library.name.c_str());
    for (const std::string& name : all.passed_over) std::printf("\t%s passed over\n", name.c_str());
    for (const Error& error : all.errors) std::printf("\terror: %s\n", error.text().c_str());
  }
  return 0;
}
