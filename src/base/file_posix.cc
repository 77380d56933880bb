#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/text_file.h"

namespace archguard {
namespace {

Error not_a_file(const std::string& path, mode_t mode) {
  return Error{path, S_ISDIR(mode) ? "is a folder, not a file" : "is not a regular file", {}};
}

Error not_opened(const std::string& path, int error) {
  if (error == ENOENT) return missing_file(path);
  return Error{path, std::string("cannot be opened: ") + std::strerror(error), {}};
}

// What a file no longer has is no hole in it: reading it tells.
[[maybe_unused]] bool has_shrunk(int descriptor, std::uint64_t size) {
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < size;
}

}  // namespace

std::optional<std::vector<std::string>> names_in_folder(const std::string& folder) {
  constexpr std::size_t kMost = 10'000;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return std::nullopt;
  std::vector<std::string> names;
  while (names.size() < kMost) {
    const dirent* entry = ::readdir(open);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

std::string list_command(const std::string& folder) {
  return "ls " + quoted_for_shell(folder);
}

Result<FileSource> FileSource::open(const std::string& path) {
  if (path.empty()) return no_name();
  if (path.find('\0') != std::string::npos) return nul_in_name(path);
  struct stat status {};
  // Looked at before it is opened, since opening alone has effects on some devices.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return not_a_file(path, status.st_mode);
  // O_NONBLOCK: should it have become a FIFO since, opening it must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return not_opened(path, errno);
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return not_a_file(path, status.st_mode);
  }
  return FileSource(descriptor, static_cast<std::uint64_t>(status.st_size));
}

FileSource::~FileSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Extent FileSource::data_from(std::uint64_t offset) const {
#ifdef SEEK_DATA
  // The descriptor's own position is nobody's concern: all reads name theirs.
  const off_t begin = ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  if (begin < 0 && errno == ENXIO && !has_shrunk(descriptor_, size_))
    offset = std::max(offset, size_);  // nothing but a hole
  const off_t end = begin < 0 ? begin : ::lseek(descriptor_, begin, SEEK_HOLE);
  if (end > begin) return {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
#endif
  return {offset, std::max(offset, size_)};
}

Status FileSource::read_whole(std::uint64_t offset, void* out, std::size_t count) const {
  auto* target = static_cast<std::uint8_t*>(out);
  while (count != 0) {
    const ssize_t got = ::pread(descriptor_, target, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{{}, "cannot be read at " + hex(offset) + ": " + std::strerror(errno), {}};
    if (got == 0) return Error{{}, "ends at " + hex(offset) + " while it is read: it shrank", {}};
    target += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return Done{};
}

Result<std::FILE*> open_text_file(const std::string& path) {
  if (path.empty()) return no_name();
  const bool is_standard_input = path == "-";
  struct stat status {};
  const int looked = is_standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (looked == 0 && (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)))
    return not_a_file(text_file_name(path), status.st_mode);
  if (is_standard_input) return stdin;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return not_opened(path, errno);
  return file;
}

}  // namespace archguard
