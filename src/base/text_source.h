#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace archguard {

// Takes a text piece by piece, in order, and passes many short pieces on as few long ones.
class TextSink {
 public:
  virtual ~TextSink() = default;
  void write(std::string_view piece) {
    constexpr std::size_t kPassedOnBytes = std::size_t{64} << 10;
    joined_ += piece;
    if (joined_.size() >= kPassedOnBytes) flush();
  }
  void flush() {
    pass_on(joined_);
    joined_.clear();
  }

 private:
  virtual void pass_on(std::string_view text) = 0;
  std::string joined_;
};

// A text that may be too long to be held: it is written as it is made. It refers to what it is made of, which
// has to outlive it.
class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual void write_to(TextSink& sink) const = 0;
};

class PlainText : public TextSource {
 public:
  explicit PlainText(std::string_view text) : text_(text) {}
  void write_to(TextSink& sink) const override { sink.write(text_); }

 private:
  std::string_view text_;
};

class HeldText : public TextSink {
 public:
  std::string take() {
    flush();
    return std::move(text_);
  }

 private:
  void pass_on(std::string_view piece) override { text_ += piece; }
  std::string text_;
};

// All of a text that is short.
inline std::string held_text(const TextSource& source) {
  HeldText text;
  source.write_to(text);
  return text.take();
}

}  // namespace archguard
