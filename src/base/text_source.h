#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace archguard {

// A text that may be too long to be held: whoever makes it hands it over piece by piece, in order. It refers
// to what it is made of, which has to outlive it.
using TextSink = std::function<void(std::string_view)>;
using TextSource = std::function<void(const TextSink&)>;

inline TextSource text_source(std::string text) {
  return [text = std::move(text)](const TextSink& sink) { sink(text); };
}

inline std::string text_of(const TextSource& source) {
  std::string text;
  source([&](std::string_view piece) { text += piece; });
  return text;
}

// Many short pieces as few long ones.
inline void join_pieces(const TextSource& source, const TextSink& sink) {
  constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  std::string joined;
  source([&](std::string_view piece) {
    joined += piece;
    if (joined.size() < kPieceBytes) return;
    sink(joined);
    joined.clear();
  });
  sink(joined);
}

}  // namespace archguard
