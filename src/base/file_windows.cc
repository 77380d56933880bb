#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/windows.h"
#include "base/windows_api.h"

namespace archguard {
namespace {

bool is_folder(const std::wstring& name) {
  const DWORD attributes = GetFileAttributesW(name.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

Error not_opened(const std::string& path, int error) {
  if (error == ENOENT) return missing_file(path);
  return Error{path, std::string("cannot be opened: ") + std::strerror(error), {}};
}

}  // namespace

std::optional<std::vector<std::string>> names_in_folder(const std::string& folder) {
  constexpr std::size_t kMost = 10'000;
  WIN32_FIND_DATAW entry{};
  const HANDLE open = FindFirstFileW(widen(folder + "/*").c_str(), &entry);
  if (open == INVALID_HANDLE_VALUE) return std::nullopt;
  std::vector<std::string> names;
  do {
    std::string name = narrow(entry.cFileName);
    if (name != "." && name != "..") names.push_back(std::move(name));
  } while (names.size() < kMost && FindNextFileW(open, &entry) != 0);
  FindClose(open);
  std::sort(names.begin(), names.end());
  return names;
}

std::string list_command(const std::string& folder) {
  return "dir \"" + folder + "\"";
}

Result<FileSource> FileSource::open(const std::string& path) {
  if (path.empty()) return no_name();
  if (path.find('\0') != std::string::npos) return nul_in_name(path);
  const std::wstring name = widen(path);
  if (is_folder(name)) return Error{path, "is a folder, not a file", {}};
  const int descriptor = _wopen(name.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) return not_opened(path, errno);
  struct _stat64 status {};
  if (_fstat64(descriptor, &status) != 0 || (status.st_mode & _S_IFMT) != _S_IFREG) {
    _close(descriptor);
    return Error{path, "is not a regular file", {}};
  }
  return FileSource(descriptor, static_cast<std::uint64_t>(status.st_size));
}

FileSource::~FileSource() {
  if (descriptor_ >= 0) _close(descriptor_);
}

Extent FileSource::data_from(std::uint64_t offset) const {
  return {offset, std::max(offset, size_)};
}

Status FileSource::read_whole(std::uint64_t offset, void* out, std::size_t count) const {
  auto* target = static_cast<std::uint8_t*>(out);
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor_));
  while (count != 0) {
    OVERLAPPED place{};  // the position of its own, as of pread
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    const auto wanted = static_cast<DWORD>(std::min<std::size_t>(count, 1 << 30));
    if (ReadFile(file, target, wanted, &got, &place) == 0 && GetLastError() != ERROR_HANDLE_EOF)
      return Error{{}, "cannot be read at " + hex(offset) + ": " + windows_error_text(GetLastError()), {}};
    if (got == 0) return Error{{}, "ends at " + hex(offset) + " while it is read: it shrank", {}};
    target += got;
    offset += got;
    count -= got;
  }
  return Done{};
}

Result<std::FILE*> open_text_file(const std::string& path) {
  if (path.empty()) return no_name();
  if (path == "-") {
    _setmode(_fileno(stdin), _O_BINARY);
    return stdin;
  }
  const std::wstring name = widen(path);
  if (is_folder(name)) return Error{path, "is a folder, not a file", {}};
  std::FILE* file = _wfopen(name.c_str(), L"rb");
  if (file == nullptr) return not_opened(path, errno);
  return file;
}

}  // namespace archguard
