#include "host/zlib_stream.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "host/inflation.h"

namespace archguard {
namespace {

constexpr std::size_t kOut = std::size_t{4} * 1024, kEnough = std::size_t{64} * 1024;

// Deflate, a window of 32 KiB at most, no dictionary, and the check of both bytes.
bool has_head(ByteView start) {
  if (start.size < 8) return false;
  const unsigned method = start.data[0], flags = start.data[1];
  return (method & 15U) == 8 && method >> 4U <= 7 && (method * 256 + flags) % 31 == 0 && (flags & 0x20U) == 0;
}

// "x^2 …" begins like a stream.
bool holds_text_alone(ByteView bytes) {
  return std::all_of(bytes.data, bytes.data + bytes.size, [](std::uint8_t byte) {
    return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

// gitformat-loose: "blob 1234\0".
bool is_of_git(std::string_view text) {
  for (const std::string_view kind : {"blob ", "tree ", "commit ", "tag "}) {
    if (!starts_with(text, kind)) continue;
    const auto end = text.find_first_not_of("0123456789", kind.size());
    return end != std::string_view::npos && end > kind.size() && text[end] == '\0';
  }
  return false;
}

}  // namespace

bool is_zlib_stream(ByteView start, std::size_t whole_below) {
  if (!has_head(start) || (start.size >= whole_below && holds_text_alone(start))) return false;
  Inflation inflation(MAX_WBITS);
  if (!inflation.ready) return false;
  z_stream& stream = inflation.stream;
  Bytes in(start.data, start.data + start.size);
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  std::array<unsigned char, kOut> out;
  std::size_t made = 0;
  for (int state = Z_OK; state != Z_STREAM_END && made < kEnough;) {
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state == Z_BUF_ERROR) return made != 0 && start.size >= whole_below;
    if (state != Z_OK && state != Z_STREAM_END) return false;
    const std::size_t count = out.size() - stream.avail_out;
    if (made == 0 && is_of_git(ByteView{out.data(), count}.text())) return false;
    made += count;
  }
  return made != 0;
}

}  // namespace archguard
