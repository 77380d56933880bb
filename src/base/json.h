#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text_source.h"

namespace archguard {

// How the members of an object, or the elements of a list, stand.
enum class JsonLayout {
  as_around,     // like the object or list that holds it
  lines,         // each in a line, indented by its depth
  row,           // {"a": 1, "b": 2}
  packed,        // {"a":1,"b":2}
  packed_lines,  // likewise, and each begins a line
};

// What becomes of texts that JSON does not hold as they are. The rule: control characters are \u000a, each
// byte that is not UTF-8 is U+FFFD, and all bytes of such a text stand right behind it, as hexadecimal
// digits: of "path" in "path_bytes", of a list in a list that has null for the texts that are whole.
enum class JsonTexts {
  rule,
  // Of "archguard.verify/1", whose readers know it so: \n, one U+FFFD for a sequence that breaks off, and the
  // bytes at the end of the object.
  verify_1,
};

// A string with its quotes.
std::string json_quote(std::string_view text, JsonTexts texts = JsonTexts::rule);

// Writes one document, with a line end, piece by piece: of what is written nothing is held. Members take
// their key, elements of a list have none. What was begun is to be ended.
class JsonWriter {
 public:
  explicit JsonWriter(TextSink& sink, JsonTexts texts = JsonTexts::rule) : sink_(&sink), texts_(texts) {}

  void begin_object(JsonLayout layout = JsonLayout::as_around);  // the document, or an element
  void begin_object(std::string_view key, JsonLayout layout = JsonLayout::as_around);
  void begin_list(std::string_view key, JsonLayout layout = JsonLayout::as_around);
  void end();  // of the innermost

  // What others wrote (names, paths), with its bytes beside it.
  void text(std::string_view key, std::string_view text);
  void text_or_null(std::string_view key, std::string_view text);  // null where it is empty
  void texts(std::string_view key, const std::vector<std::string>& texts,
             JsonLayout layout = JsonLayout::as_around);

  // What is said here: no bytes beside it.
  void message(std::string_view key, std::string_view text);
  void message_or_null(std::string_view key, std::string_view text);

  template <class Value>
  void known_or_null(std::string_view key, const std::optional<Value>& value) {
    message_or_null(key, value ? to_string(*value) : std::string());
  }
  template <class Number>
  void number(std::string_view key, Number value) {
    static_assert(std::is_integral_v<Number> && !std::is_same_v<Number, bool>);
    put(key, std::to_string(value));
  }
  void flag(std::string_view key, bool value) { put(key, value ? "true" : "false"); }
  void null(std::string_view key) { put(key, "null"); }
  void number_element(std::size_t value);

  // For objects that differ in their first members alone: makes the text of the others once, where the first
  // such object has got these, and has it written again into the next ones.
  template <class Write>
  std::string kept_members(Write write) {
    HeldText text;
    TextSink* const around = std::exchange(sink_, &text);
    write();
    end_bytes();
    sink_ = around;
    return text.take();
  }
  void members_again(const std::string& members) { sink_->write(members); }

 private:
  struct Bytes {  // of a text, or of a list of texts
    std::string key;
    std::vector<std::string> texts;
    bool is_list;
    JsonLayout layout;
  };
  struct Open {
    JsonLayout layout;
    char end;
    bool any = false;              // it has a member or element
    std::vector<Bytes> late = {};  // to be written at its end
  };

  void begin(JsonLayout layout, char begin, char end);
  void begin_element();
  void begin_member(std::string_view key);
  void put(std::string_view key, std::string_view json);
  void add_bytes(Bytes bytes);
  void put_bytes(const Bytes& bytes);
  void end_bytes();
  void new_line();

  TextSink* sink_;
  JsonTexts texts_;
  std::vector<Open> open_;
};

}  // namespace archguard
