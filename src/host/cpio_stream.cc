#include "host/cpio_stream.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::size_t kMagicSize = 6;

// Where a header has the sizes of name and bytes, and how many digits they have.
struct CpioLayout {
  std::string_view magic;  // or how it begins
  std::size_t size, name_at, name_digits, bytes_at, bytes_digits;
  unsigned base, alignment;
};
constexpr CpioLayout kCpioLayouts[] = {{"07070", 110, 94, 8, 54, 8, 16, 4},
                                       {"070707", 76, 59, 6, 65, 11, 8, 1}};

const CpioLayout* cpio_layout_of(std::string_view magic) {
  if (magic == "070701" || magic == "070702") return &kCpioLayouts[0];
  return magic == "070707" ? &kCpioLayouts[1] : nullptr;
}

std::optional<std::uint64_t> cpio_number(std::string_view digits, unsigned base) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A') + 10
                                                  : base;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

std::uint64_t round_up(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

Error no_cpio_header() {
  return Error{
      {}, "is damaged: bytes that are no header stand between two members, or at its end", kGetWhole};
}

}  // namespace

bool is_cpio_stream(ByteView start) {
  return cpio_layout_of(start.text().substr(0, kMagicSize)) != nullptr;
}

Result<std::size_t> CpioStream::next(std::uint8_t* out, std::size_t count) {
  ARCHGUARD_TRY(got, stream_.next(out, count));
  ARCHGUARD_CHECK(follow(ByteView(out, got).text()));
  return got;
}

std::uint64_t CpioStream::skip(std::uint64_t count) {
  const std::uint64_t skipped = stream_.skip(ended_ ? count : std::min(count, left_));
  left_ -= std::min(skipped, left_);
  return skipped;
}

Status CpioStream::follow(std::string_view bytes) {
  while (!bytes.empty() && !ended_) {
    if (left_ != 0) {
      const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      left_ -= passed;
      bytes.remove_prefix(passed);
      continue;
    }
    ARCHGUARD_TRY(most, wanted());
    const std::size_t taken = std::min(most - head_.size(), bytes.size());
    head_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    ARCHGUARD_TRY(now, wanted());
    if (head_.size() == now) ARCHGUARD_CHECK(finish());
  }
  return Done{};
}

Result<std::size_t> CpioStream::wanted() {
  if (head_.size() < kMagicSize) return kMagicSize;
  const CpioLayout* layout = cpio_layout_of(head_.substr(0, kMagicSize));
  if (layout == nullptr) return no_cpio_header();
  if (format_.empty()) format_ = layout->magic;
  if (format_ != layout->magic) return no_cpio_header();
  if (head_.size() < layout->size) return layout->size;
  const std::string_view head = std::string_view(head_).substr(0, layout->size);
  // libarchive passes over a header with one digit that is none, whichever it is.
  const bool numbers = cpio_number(head.substr(kMagicSize), layout->base).has_value();
  const auto name = cpio_number(head.substr(layout->name_at, layout->name_digits), layout->base);
  if (!numbers || !name || *name == 0)
    return Error{{}, "is damaged: a header has a field that is not a number, or no name", kGetWhole};
  if (*name - 1 > kArchiveNameMost)
    return Error{
        {}, "has a member whose name has " + count_of(*name - 1, "byte") + ", which no system takes", {}};
  return layout->size + static_cast<std::size_t>(*name);
}

Status CpioStream::finish() {
  const CpioLayout& layout = *cpio_layout_of(head_.substr(0, kMagicSize));
  const auto bytes =
      cpio_number(std::string_view(head_).substr(layout.bytes_at, layout.bytes_digits), layout.base);
  left_ =
      round_up(head_.size(), layout.alignment) - head_.size() + round_up(bytes.value_or(0), layout.alignment);
  ended_ = std::string_view(head_).substr(layout.size) == std::string_view("TRAILER!!!\0", 11);
  head_.clear();
  return Done{};
}

}  // namespace archguard
