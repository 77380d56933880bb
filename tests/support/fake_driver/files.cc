// Preloaded into arch_probe: what the drivers and the kernel keep in files is taken from the folder that
// ARCHGUARD_FAKE_ROOT names, and libraries of the driver from there and from LD_LIBRARY_PATH alone. So a
// played machine is the same on every machine, with a driver, in a container or in WSL.

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::string mapped(const char* path) {
  const char* root = std::getenv("ARCHGUARD_FAKE_ROOT");
  if (root == nullptr) return path;
  for (const char* prefix :
       {"/proc/driver/nvidia", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id",
        "/proc/self/cgroup", "/dev/nvidia", "/dev/nvhost-ctrl", "/etc/nv_tegra_release", "/dev/dxg",
        "/sys/bus/pci", "/sys/module/nvidia", "/.dockerenv", "/run/.containerenv", "/run/opengl-driver",
        "/usr/lib/wsl", "/etc/ld.so.cache"})
    if (std::strncmp(path, prefix, std::strlen(prefix)) == 0) return root + std::string(path);
  if (std::strcmp(path, "/dev") == 0) return root + std::string(path);
  return path;
}

}  // namespace

EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  return real<int (*)(const char*, int, ...)>("open")(mapped(path).c_str(), flags, mode);
}

EXPORT int access(const char* path, int mode) {
  return real<int (*)(const char*, int)>("access")(mapped(path).c_str(), mode);
}

EXPORT int stat(const char* path, struct stat* about) {
  return real<int (*)(const char*, struct stat*)>("stat")(mapped(path).c_str(), about);
}

EXPORT ssize_t readlink(const char* path, char* text, size_t size) {
  return real<ssize_t (*)(const char*, char*, size_t)>("readlink")(mapped(path).c_str(), text, size);
}

EXPORT DIR* opendir(const char* path) {
  return real<DIR* (*)(const char*)>("opendir")(mapped(path).c_str());
}

// With ARCHGUARD_FAKE_UNKILLABLE a child stays, as one does that waits in the kernel for a wedged GPU.
EXPORT int kill(pid_t process, int signal) {
  if (std::getenv("ARCHGUARD_FAKE_UNKILLABLE") != nullptr) return 0;
  return real<int (*)(pid_t, int)>("kill")(process, signal);
}

EXPORT void* dlopen(const char* name, int flags) {
  const auto load = real<void* (*)(const char*, int)>("dlopen");
  const char* root = std::getenv("ARCHGUARD_FAKE_ROOT");
  if (name == nullptr || root == nullptr) return load(name, flags);
  if (std::strchr(name, '/') != nullptr) return load(mapped(name).c_str(), flags);
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  std::string rest = folders != nullptr ? folders : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string file = rest.substr(0, colon) + "/" + name;
    if (access(file.c_str(), F_OK) == 0) return load(file.c_str(), flags);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return load((std::string(root) + "/nowhere/" + name).c_str(), flags);
}
