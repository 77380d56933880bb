#include "base/bytes.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kNoSuchFile = "no such file";

Error outside(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return Error{{},
               "needs " + count_of(count, "byte") + " at " + hex(offset) + ", " +
                   std::to_string(size > offset ? size - offset : 0) + " remain",
               {}};
}

std::string without_digits(std::string text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  text.erase(std::remove_if(text.begin(), text.end(), is_digit), text.end());
  return text;
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

Error missing_file(const std::string& path) {
  return {path, std::string(kNoSuchFile), {}};
}

bool is_missing(const Error& error) {
  return error.what == kNoSuchFile;
}

std::optional<std::string> file_meant_by(const std::string& path) {
  const auto name_at = path.rfind('/') + 1;  // 0 where it has no folder
  const std::string name = path.substr(name_at);
  std::vector<std::string> others = names_in_folder(folder_of(path)).value_or(std::vector<std::string>());
  // Itself is a link that leads nowhere, and other digits are another version.
  const auto is_other = [&](const std::string& other) {
    return without_digits(other) == without_digits(name);
  };
  others.erase(std::remove_if(others.begin(), others.end(), is_other), others.end());
  const auto meant = did_you_mean(name, others);
  if (!meant) return std::nullopt;
  return path.substr(0, name_at) + *meant;
}

std::string fix_of_missing(const std::string& path) {
  if (const auto meant = file_meant_by(path)) return "did you mean " + *meant + "?";
  std::string folder = folder_of(path);
  while (!names_in_folder(folder) && folder != folder_of(folder)) folder = folder_of(folder);
  return "look what is there: " + list_command(folder);
}

Error nul_in_name(const std::string& path) {
  return {path.substr(0, path.find('\0')), "the name of a file goes on behind a NUL", {}};
}

Error no_name() {
  return {{}, "the name of a file is empty", "look for a variable that is not set"};
}

}  // namespace archguard
