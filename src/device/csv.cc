#include "device/csv.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {

CsvReader::CsvReader(std::string_view text, std::string path) : text_(text), path_(std::move(path)) {
  utf16_ = is_utf16(text_);
}

Error CsvReader::error(std::size_t line, std::string what, std::string fix) const {
  return {path_ + ":" + std::to_string(line), std::move(what), std::move(fix)};
}

// Programs write one before each of several files that make up this one.
void CsvReader::skip_byte_order_mark() {
  text_ = without_byte_order_mark(text_);
}

void CsvReader::skip_blanks() {
  while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t')) text_.remove_prefix(1);
}

void CsvReader::skip_line() {
  const auto end = std::min(text_.find_first_of("\r\n"), text_.size());
  text_.remove_prefix(end);
  text_.remove_prefix(starts_with(text_, "\r\n") ? 2 : std::min<std::size_t>(1, text_.size()));
  ++line_;
}

// `text_` is at the opening quote.
Result<std::string> CsvReader::quoted_field() {
  const std::size_t first_line = line_;
  std::string field;
  for (text_.remove_prefix(1);;) {
    const auto quote = text_.find('"');
    if (quote == std::string_view::npos)
      return error(first_line, "a quoted field is not closed", "add the missing double quote");
    const std::string_view part = text_.substr(0, quote);
    field += part;
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    text_.remove_prefix(quote + 1);
    if (!starts_with(text_, "\"")) break;
    field += '"';
    text_.remove_prefix(1);
  }
  skip_blanks();
  if (!at_line_end() && text_[0] != ',')
    return error(line_, "text follows the closing quote of a field",
                 "double the quotes inside a quoted field");
  return field;
}

Result<std::string> CsvReader::plain_field() {
  const auto end = std::min(text_.find_first_of(",\r\n"), text_.size());
  const std::string_view field = trim(text_.substr(0, end));
  text_.remove_prefix(end);
  if (field.find('\0') != std::string_view::npos)
    return error(line_, "the line has a NUL byte", "save the file as UTF-8 text");
  return std::string(field);
}

Result<bool> CsvReader::next(CsvRow& row) {
  if (utf16_) return error(1, "the file is UTF-16 text, expected UTF-8", kSaveAsUtf8);
  row.fields.clear();
  for (;;) {  // to the first line that is neither empty nor a comment
    skip_byte_order_mark();
    skip_blanks();
    if (text_.empty()) return false;
    if (text_[0] != '#' && !at_line_end()) break;
    skip_line();
  }
  row.line = line_;
  for (;;) {
    skip_blanks();
    auto field = starts_with(text_, "\"") ? quoted_field() : plain_field();
    if (!field) return std::move(field).error();
    if (row.fields.size() == kMostFields)
      return error(row.line, "the line has more than " + std::to_string(kMostFields) + " fields", "");
    row.fields.push_back(std::move(*field));
    if (at_line_end()) break;
    text_.remove_prefix(1);  // the comma
  }
  skip_line();
  return true;
}

std::string csv_field(std::string_view text) {
  const bool plain = text == trim(text) && text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !starts_with(text, "#") && text.find('\0') == std::string_view::npos;
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace archguard
