#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/byte_stream.h"

namespace archguard {

constexpr std::size_t kTarBlock = 512;

// tar's header ends in its checksum's field, octal digits at 148; the field itself counts as blanks.
bool is_tar_header(ByteView start);

// A tar archive on its way to libarchive, which passes over a global header (typeflag g) whatever stands in
// it: a file whose typeflag became g is gone without a word. This stream fails where it
// holds anything but the records that pax writes. (POSIX, "pax Header Block"; GNU tar 1.34 says "Malformed
// extended header" then.)
class TarStream final : public ByteStream {
 public:
  explicit TarStream(ByteStream& stream) : stream_(stream) {}
  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override;
  std::uint64_t skip(std::uint64_t count) override;

 private:
  Status follow(std::string_view bytes);
  Status finish();
  Status read_header();

  ByteStream& stream_;
  std::string head_;                // a header, or what stands in a global one
  std::size_t wanted_ = kTarBlock;  // bytes of it
  std::uint64_t left_ = 0;          // bytes of the member before the next header
  bool in_global_ = false;          // `head_` is what stands in it
  bool following_ = true;           // false behind the last header, or where the next one is not found
};

}  // namespace archguard
