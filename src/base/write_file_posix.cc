#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/write_file.h"

namespace archguard {
namespace {

bool write_to_descriptor(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Error not_written(const std::string& path, int reason) {
  return {path, "cannot be written: " + to_lower(strerror(reason)), {}};
}

// A device, a pipe, or what this process has open already: nothing may take its place.
bool is_written_in_place(const std::string& path, const struct stat* about) {
  return starts_with(path, "/dev/std") || starts_with(path, "/dev/fd/") ||
         (about != nullptr && !S_ISREG(about->st_mode) && !S_ISDIR(about->st_mode));
}

Status write_in_place(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return not_written(path, errno);
  const int reason = write_to_descriptor(descriptor, text) ? 0 : errno;
  if (close(descriptor) == 0 && reason == 0) return Done{};
  return not_written(path, reason != 0 ? reason : errno);
}

}  // namespace

std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string text = resolved;
  free(resolved);
  return text;
}

Status write_file(const std::string& path, const std::string& text, unsigned mode) {
  struct stat about {};
  const bool exists = stat(path.c_str(), &about) == 0;
  if (is_written_in_place(path, exists ? &about : nullptr)) return write_in_place(path, text);
  const std::string place = exists ? real_path(path) : path;  // a link stays
  const std::string beside = place + "." + std::to_string(getpid()) + ".part";
  const int descriptor =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, static_cast<mode_t>(mode));
  if (descriptor < 0) {
    Error error = not_written(path, errno);
    error.fix = "name a file in a folder that exists and is yours";
    return error;
  }
  bool written = write_to_descriptor(descriptor, text);
  written = close(descriptor) == 0 && written;
  if (written && rename(beside.c_str(), place.c_str()) == 0) return Done{};
  const int reason = errno;
  unlink(beside.c_str());
  return not_written(path, reason);
}

}  // namespace archguard
