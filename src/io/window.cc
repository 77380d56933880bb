#include "io/window.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {

Window::Window(const ByteSource& source, std::size_t capacity, std::size_t ahead)
    : source_(source), capacity_(capacity), ahead_(std::min(ahead, capacity)) {}

Result<ByteView> Window::at(std::uint64_t offset, std::size_t count) {
  if (count == 0) return ByteView{};
  const std::uint64_t size = source_.size();
  const std::uint64_t remain = offset <= size ? size - offset : 0;
  if (count > remain || count > capacity_)
    return Error{{},
                 "needs " + count_of(count, "byte") + " at " + hex(offset) + ", " +
                     std::to_string(std::min<std::uint64_t>(remain, capacity_)) + " remain",
                 {}};
  if (offset < start_ || offset - start_ > filled_ || count > filled_ - (offset - start_)) {
    filled_ = 0;
    const auto fill = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(count, ahead_), remain));
    if (held_ < fill) {
      buffer_.reset(new std::uint8_t[fill]);
      held_ = fill;
    }
    ARCHGUARD_CHECK(source_.read(offset, buffer_.get(), fill));
    start_ = offset;
    filled_ = fill;
  }
  return ByteView{buffer_.get() + (offset - start_), count};
}

Result<std::string> Window::text_at(std::uint64_t offset, std::size_t most) {
  const std::uint64_t size = source_.size();
  const std::uint64_t remain = offset <= size ? size - offset : 0;
  ARCHGUARD_TRY(view, at(offset, static_cast<std::size_t>(std::min<std::uint64_t>(most, remain))));
  const std::string_view text = view.text();
  const auto end = text.find('\0');
  if (end == std::string_view::npos && text.size() < most) return std::string{};
  return std::string(text.substr(0, end));
}

}  // namespace archguard
