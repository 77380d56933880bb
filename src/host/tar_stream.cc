#include "host/tar_stream.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::size_t kSizeAt = 124, kSizeDigits = 12, kTypeAt = 156;
constexpr std::uint64_t kGlobalMost = std::uint64_t{1} << 20;  // git and pax write some 100 bytes

// Octal digits, with blanks or NULs around. Nothing for a size of base 256, which only files of 8 GiB need.
std::optional<std::uint64_t> tar_number(std::string_view field) {
  const auto begin = field.find_first_not_of(' ');
  std::uint64_t value = 0;
  if (begin == std::string_view::npos) return std::nullopt;
  for (const char digit : field.substr(begin)) {
    if (digit == ' ' || digit == '\0') break;
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

// "LENGTH KEY=VALUE\n", one behind the other; LENGTH counts all of it, in decimal.
bool are_pax_records(std::string_view text) {
  while (!text.empty() && text[0] != '\0') {
    const auto blank = text.find(' ');
    const auto length = parse_number(text.substr(0, blank), kGlobalMost);
    if (blank == std::string_view::npos || !length || *length <= blank + 1 || *length > text.size())
      return false;
    const std::string_view record = text.substr(0, static_cast<std::size_t>(*length));
    if (record.back() != '\n' || record.find('=', blank) == std::string_view::npos) return false;
    text.remove_prefix(record.size());
  }
  return text.find_first_not_of('\0') == std::string_view::npos;
}

std::uint64_t in_blocks(std::uint64_t size) {
  return (size + kTarBlock - 1) / kTarBlock * kTarBlock;
}

}  // namespace

bool is_tar_header(ByteView start) {
  constexpr std::size_t kSumAt = 148, kSumSize = 8;
  if (start.size < kTarBlock || start.data[0] == 0) return false;
  std::uint64_t sum = 0, told = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i)
    sum += i >= kSumAt && i < kSumAt + kSumSize ? std::uint64_t{' '} : start.data[i];
  bool any = false;
  for (std::size_t i = kSumAt; i < kSumAt + kSumSize; ++i) {
    const char digit = static_cast<char>(start.data[i]);
    if (digit >= '0' && digit <= '7') {
      told = told * 8 + static_cast<std::uint64_t>(digit - '0');
      any = true;
    } else if (any) {
      break;
    } else if (digit != ' ') {
      return false;
    }
  }
  return any && told == sum;
}

Result<std::size_t> TarStream::next(std::uint8_t* out, std::size_t count) {
  ARCHGUARD_TRY(got, stream_.next(out, count));
  ARCHGUARD_CHECK(follow(ByteView(out, got).text()));
  return got;
}

std::uint64_t TarStream::skip(std::uint64_t count) {
  const std::uint64_t skipped = stream_.skip(following_ ? std::min(count, left_) : count);
  left_ -= std::min(skipped, left_);
  return skipped;
}

Status TarStream::follow(std::string_view bytes) {
  while (!bytes.empty() && following_) {
    const bool passing = left_ != 0;
    const std::uint64_t most = passing ? left_ : wanted_ - head_.size();
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(most, bytes.size()));
    if (passing)
      left_ -= taken;
    else
      head_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (!passing && head_.size() == wanted_) ARCHGUARD_CHECK(finish());
  }
  return Done{};
}

Status TarStream::finish() {
  if (!in_global_) return read_header();
  if (!are_pax_records(head_))
    return Error{
        {},
        "is not read: a global header (typeflag g) of the archive holds something else than pax records",
        "make the archive again"};
  left_ = in_blocks(wanted_) - wanted_;
  head_.clear();
  wanted_ = kTarBlock;
  in_global_ = false;
  return Done{};
}

// libarchive tells what is wrong with a header. Where it reads on otherwise than by the size that stands
// there (a record of pax that says another one, the maps of old sparse files) the next header is not found.
Status TarStream::read_header() {
  const auto size = tar_number(std::string_view(head_).substr(kSizeAt, kSizeDigits));
  const bool global = head_[kTypeAt] == 'g';
  following_ = size && is_tar_header({reinterpret_cast<const std::uint8_t*>(head_.data()), head_.size()});
  if (following_ && global && *size > kGlobalMost)
    return Error{{}, "has a global header of " + count_of(*size, "byte") + ", which is not read", {}};
  head_.clear();
  in_global_ = following_ && global && *size != 0;
  if (in_global_)
    wanted_ = static_cast<std::size_t>(*size);
  else
    left_ = in_blocks(size.value_or(0));
  return Done{};
}

}  // namespace archguard
