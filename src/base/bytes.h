#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace archguard {

using Bytes = std::vector<std::uint8_t>;

// A borrowed run of bytes in memory. The owner outlives it.
struct ByteView {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;

  ByteView() = default;
  ByteView(const std::uint8_t* begin, std::size_t count) : data(begin), size(count) {}
  ByteView(const Bytes& bytes) : data(bytes.data()), size(bytes.size()) {}

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

// Is each byte 0?
inline bool are_zeros(ByteView bytes) {
  return std::all_of(bytes.data, bytes.data + bytes.size, [](std::uint8_t byte) { return byte == 0; });
}

// Little-endian reads from untrusted bytes. Every offset is checked without overflow: a read outside returns
// false (or nothing) and leaves the target alone. All parsing of memory goes through it.
class Cursor {
 public:
  explicit Cursor(ByteView bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size; }
  bool holds(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes_.size && count <= bytes_.size - offset;
  }

  // The value at `offset`; 0 where it lies outside. For fields of a header whose whole size was checked with
  // holds().
  std::uint8_t u8(std::uint64_t offset) const { return static_cast<std::uint8_t>(le(offset, 1)); }
  std::uint16_t u16(std::uint64_t offset) const { return static_cast<std::uint16_t>(le(offset, 2)); }
  std::uint32_t u32(std::uint64_t offset) const { return static_cast<std::uint32_t>(le(offset, 4)); }
  std::uint64_t u64(std::uint64_t offset) const { return le(offset, 8); }

  // The part [offset, offset+count), or an empty view where it does not lie inside.
  ByteView part(std::uint64_t offset, std::uint64_t count) const {
    if (!holds(offset, count)) return {};
    return {bytes_.data + offset, static_cast<std::size_t>(count)};
  }

  // The NUL-terminated text at `offset`; empty where it is not terminated inside.
  std::string_view c_string(std::uint64_t offset) const;

 private:
  std::uint64_t le(std::uint64_t offset, unsigned count) const {
    if (!holds(offset, count)) return 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value |= std::uint64_t{bytes_.data[offset + i]} << (8 * i);
    return value;
  }

  ByteView bytes_;
};

struct Extent {
  std::uint64_t begin = 0, end = 0;
};

// Something with a size and bytes at offsets: a file, a part of a file, a test's memory. Reads may fail at
// any time, since a file can shrink while it is read.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // The next bytes that may be other than zero, from `offset` on: a file may have holes. Empty, and at the
  // end, where nothing but zero bytes follows.
  virtual Extent data_from(std::uint64_t offset) const { return {offset, std::max(offset, size())}; }
  // Copies exactly `count` bytes at `offset` to `out`, or fails and says what was asked and what is there.
  // May be called from several threads at once.
  virtual Status read(std::uint64_t offset, void* out, std::size_t count) const = 0;
  // Has a read of what lies inside failed? Then another reading may tell something else. Known to a
  // WatchedSource alone.
  virtual bool failed() const { return false; }
};

// Exactly `count` bytes at `offset`. Refuses before it allocates where they lie outside the source.
Result<Bytes> read_bytes(const ByteSource& source, std::uint64_t offset, std::uint64_t count);

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteView bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size; }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  ByteView bytes_;
};

// A window of another source, which must outlive it: an archive member. Offsets count from the window's
// start.
class PartSource final : public ByteSource {
 public:
  // The window is clipped to what `whole` holds.
  PartSource(const ByteSource& whole, std::uint64_t offset, std::uint64_t size);
  std::uint64_t size() const override { return size_; }
  Extent data_from(std::uint64_t offset) const override;
  Status read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  const ByteSource& whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

// Of a file that is not there. Its fix is fix_of_missing(), where somebody named the file; others are merely
// looked for.
Error missing_file(const std::string& path);
bool is_missing(const Error& error);
// "did you mean build/app?"; or the line that shows what stands in its folder, or in the deepest one above it
// that there is.
std::string fix_of_missing(const std::string& path);
std::optional<std::string> file_meant_by(const std::string& path);

// What an empty name of a file is refused with.
Error no_name();
// Of a name that holds a NUL, where the system would stop reading it: the file named so is another one.
Error nul_in_name(const std::string& path);

// ---- file_posix.cc, file_windows.cc ----

// What stands in a folder, sorted, 10,000 names at most; nothing where it cannot be read.
std::optional<std::vector<std::string>> names_in_folder(const std::string& folder);
// The line that shows it.
std::string list_command(const std::string& folder);

// A regular file, read with pread: nothing is mapped, so a file that shrinks gives an error instead of SIGBUS
// and peak memory stays at what is asked for.
class FileSource final : public ByteSource {
 public:
  // Refuses what is no regular file (a FIFO would block, a folder has no bytes).
  static Result<FileSource> open(const std::string& path);

  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override;

  std::uint64_t size() const override { return size_; }
  Extent data_from(std::uint64_t offset) const override;
  Status read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  // A part that is known to lie inside.
  Status read_whole(std::uint64_t offset, void* out, std::size_t count) const;

  FileSource(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_;
  std::uint64_t size_;
};

}  // namespace archguard
