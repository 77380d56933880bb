// A program on PATH of the Python package archguard-cuda: it starts the one of its name inside the package.
// So a wheel holds the programs once, and where another package brings an `archguard`, the CMake package and
// `python -m archguard_cuda` keep theirs.
//
// C functions alone: this stays at a few kilobytes.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <initializer_list>
#include <limits.h>
#include <unistd.h>

namespace {

constexpr const char* kInfo = "archguard_cuda-" ARCHGUARD_VERSION ".dist-info";
constexpr const char* kProgram = "archguard_cuda/bin/" ARCHGUARD_PROGRAM;
constexpr const char* kReinstall = "python -m pip install --force-reinstall archguard-cuda";

bool join(char (&out)[PATH_MAX], const char* folder, const char* below) {
  const int length = snprintf(out, sizeof out, "%s/%s", folder, below);
  return length > 0 && length < PATH_MAX;
}

// Starts the program where `site` holds the package of this version; else returns. Each Python of a prefix
// has a package of its own, and they share one bin: its launcher belongs to the version that was installed
// last.
void start_from(const char* site, char** arguments) {
  char path[PATH_MAX];
  if (!join(path, site, kInfo) || access(path, F_OK) != 0 || !join(path, site, kProgram)) return;
  execv(path, arguments);
  fprintf(stderr, "archguard_cuda: %s cannot be run: %s; reinstall it: %s\n", path, strerror(errno),
          kReinstall);
  _exit(2);
}

// lib/python3.X/site-packages, or Debian's dist-packages.
void start_from_pythons(const char* lib, char** arguments) {
  DIR* const folder = opendir(lib);
  if (folder == nullptr) return;
  while (const dirent* each = readdir(folder)) {
    if (strncmp(each->d_name, "py", 2) != 0) continue;
    char python[PATH_MAX], site[PATH_MAX];
    if (!join(python, lib, each->d_name)) continue;
    for (const char* const packages : {"site-packages", "dist-packages"})
      if (join(site, python, packages)) start_from(site, arguments);
  }
  closedir(folder);
}

}  // namespace

int main(int, char** arguments) {
  char folder[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (length <= 0) {
    fprintf(stderr, "archguard_cuda: /proc/self/exe cannot be read: %s; mount /proc\n", strerror(errno));
    return 2;
  }
  folder[length] = '\0';

  // Above `bin`: the environment, or the folder of `pip install --target`. One higher: a wheel that was only
  // unpacked (uv may link into one).
  for (int up = 0; up < 3; ++up) {
    *strrchr(folder, '/') = '\0';
    if (strchr(folder, '/') == nullptr) break;
    if (up == 0) continue;
    start_from(folder, arguments);
    char path[PATH_MAX];
    for (const char* const lib : {"lib", "lib64"})
      if (join(path, folder, lib)) start_from_pythons(path, arguments);
  }
  fprintf(stderr,
          "archguard_cuda: no package archguard-cuda " ARCHGUARD_VERSION
          " is near the %s that was started; reinstall it: %s\n",
          ARCHGUARD_PROGRAM, kReinstall);
  return 2;
}
