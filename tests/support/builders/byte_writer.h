#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

// Builders of test files. They share no constant and no header with src/: what both agree on was written down
// twice, once from the format's description.
namespace archguard::test {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of_text(std::string_view text);
// `count` bytes that are no zeros and hold no magic number, to stand for an image that nobody looks into.
Bytes filler(std::size_t count);

// Appends little-endian fields.
class ByteWriter {
 public:
  ByteWriter& u8(std::uint64_t value) { return le(value, 1); }
  ByteWriter& u16(std::uint64_t value) { return le(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return le(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return le(value, 8); }
  ByteWriter& append(const Bytes& bytes);
  ByteWriter& text(std::string_view text);
  ByteWriter& zeros(std::size_t count);
  ByteWriter& align(std::size_t to);  // with zeros

  std::size_t size() const { return bytes_.size(); }
  const Bytes& bytes() const { return bytes_; }

 private:
  ByteWriter& le(std::uint64_t value, unsigned count);
  Bytes bytes_;
};

}  // namespace archguard::test
