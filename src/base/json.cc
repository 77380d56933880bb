#include "base/json.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"

namespace archguard {
namespace {

bool is_as_it_is(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' &&
         c != '\\';
}

// Of a text that does not begin with well-formed UTF-8: the bytes at its start that could go on so, at least
// one.
std::size_t broken_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && utf8_length(std::string(text.substr(0, length + 1)) + "\x80\x80") != 0)
    ++length;
  return length;
}

std::string control_escape(char c, JsonTexts texts) {
  constexpr std::string_view kControls = "\b\f\n\r\t", kLetters = "bfnrt";
  const auto named = kControls.find(c);
  if (texts == JsonTexts::verify_1 && named != std::string_view::npos) return {'\\', kLetters[named]};
  char escape[7];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
  return escape;
}

}  // namespace

std::string json_quote(std::string_view text, JsonTexts texts) {
  std::string quoted = "\"";
  quoted.reserve(text.size() + 2);
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_as_it_is) - text.begin());
    quoted += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    std::size_t length = utf8_length(text);
    if (length == 0) {
      quoted += "\xef\xbf\xbd";
      length = texts == JsonTexts::verify_1 ? broken_length(text) : 1;
    } else if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (length == 1) {
      quoted += control_escape(c, texts);
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return quoted += '"';
}

void JsonWriter::begin_object(JsonLayout layout) {
  if (!open_.empty()) begin_element();
  begin(layout, '{', '}');
}

void JsonWriter::begin_object(std::string_view key, JsonLayout layout) {
  begin_member(key);
  begin(layout, '{', '}');
}

void JsonWriter::begin_list(std::string_view key, JsonLayout layout) {
  begin_member(key);
  begin(layout, '[', ']');
}

void JsonWriter::begin(JsonLayout layout, char begin, char end) {
  if (layout == JsonLayout::as_around) layout = open_.back().layout;
  sink_->write({&begin, 1});
  open_.push_back({layout, end});
}

void JsonWriter::end() {
  end_bytes();
  const Open ended = std::move(open_.back());
  open_.pop_back();
  if (ended.layout == JsonLayout::lines && ended.any) new_line();
  sink_->write({&ended.end, 1});
  if (open_.empty()) sink_->write("\n");
}

void JsonWriter::new_line() {
  sink_->write("\n");
  for (std::size_t i = 0; i < open_.size(); ++i) sink_->write("  ");
}

void JsonWriter::begin_element() {
  Open& open = open_.back();
  if (open.any) sink_->write(open.layout == JsonLayout::row ? ", " : ",");
  if (open.layout == JsonLayout::lines) new_line();
  if (open.layout == JsonLayout::packed_lines) sink_->write("\n");
  open.any = true;
}

void JsonWriter::begin_member(std::string_view key) {
  begin_element();
  const JsonLayout layout = open_.back().layout;
  sink_->write(json_quote(key, texts_));
  sink_->write(layout == JsonLayout::lines || layout == JsonLayout::row ? ": " : ":");
}

void JsonWriter::put(std::string_view key, std::string_view json) {
  begin_member(key);
  sink_->write(json);
}

void JsonWriter::text(std::string_view key, std::string_view text) {
  message(key, text);
  if (!is_utf8(text)) add_bytes({std::string(key), {std::string(text)}, false, JsonLayout::as_around});
}

void JsonWriter::text_or_null(std::string_view key, std::string_view text) {
  text.empty() ? null(key) : this->text(key, text);
}

void JsonWriter::texts(std::string_view key, const std::vector<std::string>& texts, JsonLayout layout) {
  begin_list(key, layout);
  for (const std::string& text : texts) {
    begin_element();
    sink_->write(json_quote(text, texts_));
  }
  end();
  if (!std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return is_utf8(text); }))
    add_bytes({std::string(key), texts, true, layout});
}

void JsonWriter::message(std::string_view key, std::string_view text) {
  put(key, json_quote(text, texts_));
}

void JsonWriter::message_or_null(std::string_view key, std::string_view text) {
  text.empty() ? null(key) : message(key, text);
}

void JsonWriter::number_element(std::size_t value) {
  begin_element();
  sink_->write(std::to_string(value));
}

void JsonWriter::add_bytes(Bytes bytes) {
  if (texts_ == JsonTexts::verify_1)
    open_.back().late.push_back(std::move(bytes));
  else
    put_bytes(bytes);
}

void JsonWriter::put_bytes(const Bytes& bytes) {
  const std::string key = bytes.key + "_bytes";
  if (!bytes.is_list) return message(key, *bytes_beside(bytes.texts.front()));
  begin_list(key, bytes.layout);
  for (const std::string& text : bytes.texts) {
    const auto digits = bytes_beside(text);
    begin_element();
    sink_->write(digits ? json_quote(*digits) : "null");
  }
  end();
}

void JsonWriter::end_bytes() {
  const std::vector<Bytes> late = std::move(open_.back().late);
  open_.back().late.clear();
  for (const Bytes& bytes : late) put_bytes(bytes);
}

}  // namespace archguard
