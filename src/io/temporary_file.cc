#include "io/temporary_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"

namespace archguard {
namespace {

constexpr const char* kTemporaryFix = "set TMPDIR to a folder with room for what the file inflates to";

Error cannot(const std::string& folder, const char* what) {
  return Error{{}, "temporary file in " + folder + " " + what + ": " + std::strerror(errno), kTemporaryFix};
}

std::string temporary_folder() {
  const char* variable = std::getenv("TMPDIR");
  return variable != nullptr && *variable != '\0' ? variable : "/var/tmp";
}

}  // namespace

std::uint64_t TemporaryFile::room() {
  struct statvfs status {};
  if (::statvfs(temporary_folder().c_str(), &status) != 0) return 0;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

Result<TemporaryFile> TemporaryFile::create() {
  const std::string folder = temporary_folder();
  std::string name = folder + "/archguard-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot(folder, "cannot be made");
  ::unlink(name.c_str());
  return TemporaryFile(descriptor, folder);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      folder_(std::move(other.folder_)),
      size_(other.size_) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Error TemporaryFile::failed(const char* what) const {
  return cannot(folder_, what);
}

Status TemporaryFile::append(ByteView bytes) {
  if (are_zeros(bytes)) {
    size_ += bytes.size;
    return ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0 ? Status(Done{}) : failed("cannot grow");
  }
  while (bytes.size != 0) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data, bytes.size, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("cannot be written");
    const auto count = static_cast<std::size_t>(written);
    bytes = ByteView{bytes.data + count, bytes.size - count};
    size_ += count;
  }
  return Done{};
}

Status TemporaryFile::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (offset > size_ || count > size_ - offset)
    return Error{{},
                 "needs " + count_of(count, "byte") + " at " + hex(offset) + ", " +
                     std::to_string(size_ > offset ? size_ - offset : 0) + " remain",
                 {}};
  auto* target = static_cast<std::uint8_t*>(out);
  while (count != 0) {
    const ssize_t got = ::pread(descriptor_, target, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed("cannot be read");
    target += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return Done{};
}

}  // namespace archguard
