#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/byte_stream.h"

namespace archguard {

// PATH_MAX of Linux, without the zero at its end: nobody can unpack a longer name.
inline constexpr std::size_t kArchiveNameMost = 4095;

// Does a cpio archive of the formats newc, crc or odc begin there?
bool is_cpio_stream(ByteView start);

// A cpio archive on its way to libarchive, which takes the memory for a name of any length that a header
// claims, and looks for the next header where one is damaged, without a word. This stream fails in both
// cases. (cpio(5): newc and crc have numbers of 8 hexadecimal digits and align to 4, odc has octal ones.)
class CpioStream final : public ByteStream {
 public:
  explicit CpioStream(ByteStream& stream) : stream_(stream) {}
  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override;
  std::uint64_t skip(std::uint64_t count) override;

 private:
  Status follow(std::string_view bytes);
  // Bytes of the header and its name that are to be collected, as far as what was collected tells.
  Result<std::size_t> wanted();
  Status finish();

  ByteStream& stream_;
  std::string head_;         // of the member, with its name
  std::string_view format_;  // the magic number of all headers, without its last digit where that may differ
  std::uint64_t left_ = 0;   // bytes of the member before the next header
  bool ended_ = false;       // behind the last header libarchive reads nothing
};

}  // namespace archguard
