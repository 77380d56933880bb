#include "base/bytes.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace archguard {
namespace {

Error outside(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return Error{{},
               "needs " + count_of(count, "byte") + " at " + hex(offset) + ", " +
                   std::to_string(size > offset ? size - offset : 0) + " remain",
               {}};
}

bool inside(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

}  // namespace

std::string_view Cursor::c_string(std::uint64_t offset) const {
  if (offset >= bytes_.size) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes_.data) + offset;
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, bytes_.size - offset));
  return end == nullptr ? std::string_view{} : std::string_view(begin, static_cast<std::size_t>(end - begin));
}

Result<Bytes> read_bytes(const ByteSource& source, std::uint64_t offset, std::uint64_t count) {
  if (!inside(offset, count, source.size())) return outside(offset, count, source.size());
  Bytes bytes(static_cast<std::size_t>(count));
  if (count != 0) ARCHGUARD_CHECK(source.read(offset, bytes.data(), bytes.size()));
  return bytes;
}

Status MemorySource::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (!inside(offset, count, bytes_.size)) return outside(offset, count, bytes_.size);
  if (count != 0) std::memcpy(out, bytes_.data + offset, count);
  return Done{};
}

PartSource::PartSource(const ByteSource& whole, std::uint64_t offset, std::uint64_t size)
    : whole_(whole), offset_(std::min(offset, whole.size())), size_(std::min(size, whole.size() - offset_)) {}

Extent PartSource::data_from(std::uint64_t offset) const {
  if (offset >= size_) return {offset, offset};
  const Extent data = whole_.data_from(offset_ + offset);
  return {std::min(size_, data.begin - offset_), std::min(size_, data.end - offset_)};
}

Status PartSource::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (!inside(offset, count, size_)) return outside(offset, count, size_);
  return whole_.read(offset_ + offset, out, count);
}

FileSource::FileSource(FileSource&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

Status FileSource::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (!inside(offset, count, size_)) return outside(offset, count, size_);
  return read_whole(offset, out, count);
}

Error nul_in_name(const std::string& path) {
  return {path.substr(0, path.find('\0')), "the name of a file goes on behind a NUL", {}};
}

Error no_name() {
  return {{}, "the name of a file is empty", "look for a variable that is not set"};
}

}  // namespace archguard
