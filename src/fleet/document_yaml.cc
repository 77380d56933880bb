#include <algorithm>
#include <vector>

#include "base/printable.h"
#include "fleet/document.h"
#include "io/shared_library.h"

namespace archguard::fleet {
namespace {

constexpr std::size_t kMostDepth = 100;     // a Node has nine levels
constexpr std::size_t kMostTagLines = 100;  // libyaml compares each %TAG with all before it
constexpr const char* kWriteJson = "write JSON: kubectl get nodes -o json";

// The part of yaml.h that is called, which has been so since libyaml 0.1.0 (libyaml-0.so.2).
struct YamlMark {
  std::size_t index, line, column;
};

enum class YamlEventType : int {
  nothing,
  stream_start,
  stream_end,
  document_start,
  document_end,
  alias,
  scalar,
  list_start,
  list_end,
  object_start,
  object_end
};

struct YamlScalar {  // the longest of what an event holds; an alias has the anchor alone
  unsigned char *anchor, *tag, *value;
  std::size_t length;
  int plain_implicit, quoted_implicit, style;
};

struct YamlEvent {
  YamlEventType type;
  YamlScalar scalar;
  YamlMark start, end;
};

constexpr int kYamlUtf8 = 1;  // else a byte order mark chooses
constexpr int kYamlMemoryError = 1, kYamlReaderError = 2;
constexpr int kYamlPlainStyle = 1;

struct YamlParser {
  int error;
  const char* problem;
  std::size_t problem_offset;
  int problem_value;
  YamlMark problem_mark;
  unsigned char rest[8192];  // libyaml 0.2.5 takes 480 bytes in all
};

struct LibYaml {
  void (*version)(int* major, int* minor, int* patch);
  int (*create)(YamlParser* parser);
  void (*release)(YamlParser* parser);
  void (*set_encoding)(YamlParser* parser, int encoding);
  void (*set_text)(YamlParser* parser, const unsigned char* text, std::size_t size);
  int (*next)(YamlParser* parser, YamlEvent* event);
  void (*release_event)(YamlEvent* event);
};

bool load_yaml(LibYaml& yaml) {
  const SharedLibrary library("libyaml-0.so.2");
  if (!library.bind("yaml_get_version", yaml.version) ||
      !library.bind("yaml_parser_initialize", yaml.create) ||
      !library.bind("yaml_parser_delete", yaml.release) ||
      !library.bind("yaml_parser_set_encoding", yaml.set_encoding) ||
      !library.bind("yaml_parser_set_input_string", yaml.set_text) ||
      !library.bind("yaml_parser_parse", yaml.next) || !library.bind("yaml_event_delete", yaml.release_event))
    return false;
  int major = -1, minor = -1, patch = -1;
  yaml.version(&major, &minor, &patch);
  return major == 0;
}

bool has_many_tags(std::string_view text) {
  constexpr std::string_view kTag = "%TAG";
  std::size_t count = 0;
  for (auto at = text.find(kTag); at != std::string_view::npos; at = text.find(kTag, at + kTag.size()))
    if (++count > kMostTagLines) return true;
  return false;
}

class YamlReader {
 public:
  YamlReader(const LibYaml& yaml, std::string_view text, const std::string& file, DocumentHandler& handler)
      : yaml_(yaml), text_(text), file_(file), handler_(handler), ready_(yaml.create(&parser_) != 0) {
    if (!ready_) return;
    yaml.set_encoding(&parser_, kYamlUtf8);
    yaml.set_text(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() {
    if (ready_) yaml_.release(&parser_);
  }

  Status read() {
    for (;;) {
      YamlEvent event{};
      if (!ready_ || yaml_.next(&parser_, &event) == 0) return problem();
      Status taken = take(event);
      const bool last = event.type == YamlEventType::stream_end;
      yaml_.release_event(&event);
      if (!taken || last) return taken;
    }
  }

 private:
  // What is open: in an object, keys and values take turns.
  struct Around {
    bool is_object, key_next;
  };

  Error error(const YamlMark& mark, std::string what, std::string fix) const {
    return {file_ + ":" + std::to_string(mark.line + 1), std::move(what), std::move(fix)};
  }

  Error problem() const {
    if (!ready_ || parser_.error == kYamlMemoryError) return {file_, "cannot be read: not enough memory", {}};
    YamlMark mark = parser_.problem_mark;
    if (parser_.error == kYamlReaderError) {  // of bytes that are no text
      const auto end = std::min(parser_.problem_offset, text_.size());
      const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
      mark.line = static_cast<std::size_t>(lines);
    }
    const std::string why = parser_.problem == nullptr ? "" : std::string(": ") + parser_.problem;
    return error(mark, "is no YAML from here on" + why, "write the file again, to its end");
  }

  Status take(const YamlEvent& event) {
    switch (event.type) {
      case YamlEventType::scalar:
        take_text(event.scalar);
        return Done{};
      case YamlEventType::alias:
        return error(event.start,
                     "has the alias '*" + excerpt(reinterpret_cast<const char*>(event.scalar.anchor), 40) +
                         "', which kubectl does not write",
                     kWriteJson);
      case YamlEventType::list_start:
      case YamlEventType::object_start:
        return begin(event);
      case YamlEventType::list_end:
      case YamlEventType::object_end:
        around_.pop_back();
        end_value();
        return handler_.end();
      default:
        return Done{};
    }
  }

  Status begin(const YamlEvent& event) {
    const bool is_object = event.type == YamlEventType::object_start;
    if (is_key()) return error(event.start, "has a key that is no text", kWriteJson);
    if (around_.size() == kMostDepth)
      return error(event.start, "is nested deeper than " + std::to_string(kMostDepth) + " levels",
                   kWriteJson);
    around_.push_back({is_object, true});
    is_object ? handler_.begin_object() : handler_.begin_list();
    return Done{};
  }

  bool is_key() const { return !around_.empty() && around_.back().is_object && around_.back().key_next; }

  void take_text(const YamlScalar& scalar) {
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (is_key()) {
      around_.back().key_next = false;
      handler_.key(text);
      return;
    }
    if (scalar.style == kYamlPlainStyle && (text == "null" || text == "~")) text.clear();
    handler_.value(text);
    end_value();
  }

  void end_value() {
    if (!around_.empty()) around_.back().key_next = true;
  }

  const LibYaml& yaml_;
  std::string_view text_;
  const std::string& file_;
  DocumentHandler& handler_;
  YamlParser parser_{};
  bool ready_;
  std::vector<Around> around_;
};

}  // namespace

Status read_yaml(std::string_view text, const std::string& file, DocumentHandler& handler) {
  LibYaml yaml{};
  if (!load_yaml(yaml))
    return Error{file, "is YAML, and libyaml-0.so.2 is missing",
                 std::string("apt install libyaml-0-2, or ") + kWriteJson};
  if (has_many_tags(text))
    return Error{file,
                 "has more than " + std::to_string(kMostTagLines) + " %TAG, which kubectl does not write",
                 kWriteJson};
  return YamlReader(yaml, text, file, handler).read();
}

}  // namespace archguard::fleet
