#include "byte_writer.h"

namespace archguard::test {

Bytes bytes_of_text(std::string_view text) {
  return Bytes(text.begin(), text.end());
}

Bytes filler(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(1 + i % 31);
  return bytes;
}

ByteWriter& ByteWriter::append(const Bytes& bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

ByteWriter& ByteWriter::text(std::string_view text) {
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  return *this;
}

ByteWriter& ByteWriter::zeros(std::size_t count) {
  bytes_.resize(bytes_.size() + count);
  return *this;
}

ByteWriter& ByteWriter::align(std::size_t to) {
  return zeros((to - bytes_.size() % to) % to);
}

ByteWriter& ByteWriter::le(std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return *this;
}

}  // namespace archguard::test
