#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
  const std::string beside = path + "." + std::to_string(getpid()) + ".part";
  const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return Error{path, "cannot be written: " + to_lower(strerror(errno)),
                 "name a file in a folder that exists and is yours"};
  bool written = write_to_descriptor(descriptor, text);
  written = close(descriptor) == 0 && written;
  if (written && rename(beside.c_str(), path.c_str()) == 0) return Done{};
  const std::string reason = to_lower(strerror(errno));
  unlink(beside.c_str());
  return Error{path, "cannot be written: " + reason, ""};
}

}  // namespace archguard
