#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/text.h"
#include "device/system.h"

namespace archguard {

bool is_windows() {
  return false;
}

std::vector<std::string> start_program(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

std::string signal_text(int signal) {
  const char* text = strsignal(signal);
  return text != nullptr ? to_lower(text) : "signal " + std::to_string(signal);
}

std::string errno_text(int code) {
  return to_lower(system_error_text(code));
}

std::optional<std::string> environment(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

bool path_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool opens_for_reading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

std::string read_small_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::string text(64 << 10, '\0');
  std::size_t size = 0;
  while (descriptor >= 0 && size < text.size()) {
    const ssize_t count = read(descriptor, text.data() + size, text.size() - size);
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (descriptor >= 0) close(descriptor);
  text.resize(size);
  return text;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string link_name(const std::string& path) {
  char target[256];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  const std::string_view text(target, size > 0 ? static_cast<std::size_t>(size) : 0);
  return std::string(text.substr(text.rfind('/') + 1));
}

std::string file_stamp(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return "-";
  char stamp[200];
  if (S_ISREG(about.st_mode)) {
    std::snprintf(stamp, sizeof stamp, "%llu:%llu:%lld:%lld.%09ld:%lld.%09ld",
                  static_cast<unsigned long long>(about.st_dev),
                  static_cast<unsigned long long>(about.st_ino), static_cast<long long>(about.st_size),
                  static_cast<long long>(about.st_mtim.tv_sec), about.st_mtim.tv_nsec,
                  static_cast<long long>(about.st_ctim.tv_sec), about.st_ctim.tv_nsec);
  } else {  // the times of a device node tell of its use
    std::snprintf(stamp, sizeof stamp, "%o:%u:%u:%llu", about.st_mode, about.st_uid, about.st_gid,
                  static_cast<unsigned long long>(about.st_rdev));
  }
  return stamp;
}

void remove_file(const std::string& path) {
  unlink(path.c_str());
}

std::vector<std::string> environment_with(const std::vector<std::string>& prefixes) {
  std::vector<std::string> found;
  for (char** line = environ; *line != nullptr; ++line)
    for (const auto& prefix : prefixes)
      if (starts_with(*line, prefix)) found.emplace_back(*line);
  std::sort(found.begin(), found.end());
  return found;
}

std::string user_identity() {
  gid_t groups[256];
  const int count = getgroups(256, groups);
  std::string text = std::to_string(geteuid()) + ":" + std::to_string(getegid());
  for (int i = 0; i < count; ++i) text += ":" + std::to_string(groups[i]);
  return text;
}

}  // namespace archguard
