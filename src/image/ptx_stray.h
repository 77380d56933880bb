#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace archguard {

// Tells text that stands behind a module, and begins with a dot as a statement does, from a statement: of
// texts without an end between them `.note.gnu` or `.file not found: ` may stand there. Text that was cut, or
// damaged in some bytes, is to be taken for a statement: what reads it then finds what is wrong.
//
// It is no statement if its first word is no directive, and none with up to two other bytes; or a directive
// behind which stands what never does. And nothing behind it is a directive that declares something, nor a
// statement that comes to its end.
class PtxStray {
 public:
  // At the dot, which stands at `at`. `apart`: blanks stand between it and the module.
  void begin(std::uint64_t at, bool apart);
  // Of what follows, each byte; true at the `.version` of another module.
  bool take(unsigned char c);
  // A statement came to its end.
  void end_statement() { stage_ = Stage::none; }

  bool watches() const { return stage_ != Stage::none; }
  // If the text ends here.
  bool found() const;
  std::uint64_t at() const { return at_; }

 private:
  enum class Stage { none, first, second, rest };
  static constexpr std::size_t kLongest = 40;

  std::string_view word() const { return {word_.data(), size_}; }
  void add_to_word(unsigned char c);
  void end_first();
  bool take_rest(unsigned char c);
  bool declares() const;

  Stage stage_ = Stage::none;
  std::uint64_t at_ = 0;
  bool apart_ = false;
  std::array<char, kLongest + 1> word_{};  // one that is longer is cut, and no directive
  std::size_t size_ = 0;
  bool cut_ = false;         // so far: the beginning of a directive, and blanks
  char behind_ = 0;          // what must stand behind the first word: '.', '"' or '0' for a number
  bool in_other_ = false;    // within a word that does not begin with a dot
  std::size_t matched_ = 0;  // of `.version`
};

}  // namespace archguard
