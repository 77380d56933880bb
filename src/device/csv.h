#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace archguard {

// One line of a CSV file: its fields, unquoted, without the blanks around them.
struct CsvRow {
  std::size_t line = 0;  // the number of its first line, from 1
  std::vector<std::string> fields;
};

// Reads rows one by one, in time proportional to the text. Comments (`#` first) and empty lines are passed
// over; a byte order mark, CR LF and CR are understood. A field in double quotes may hold commas, line ends
// and doubled quotes (RFC 4180).
class CsvReader {
 public:
  // `path` names the file in errors.
  CsvReader(std::string_view text, std::string path);

  // The next row in `row`; false at the end. Errors: an unclosed quote, text behind a closing quote, more
  // than kMostFields fields, a NUL byte, UTF-16.
  Result<bool> next(CsvRow& row);

  static constexpr std::size_t kMostFields = 1000;

 private:
  Error error(std::size_t line, std::string what, std::string fix) const;
  Result<std::string> quoted_field();
  Result<std::string> plain_field();
  void skip_byte_order_mark();
  void skip_blanks();
  bool at_line_end() const { return text_.empty() || text_[0] == '\n' || text_[0] == '\r'; }
  void skip_line();

  std::string_view text_;  // what is not read yet
  std::string path_;
  std::size_t line_ = 1;
  bool utf16_ = false;
};

// The field as CsvReader reads it back; quoted only where it has to be.
std::string csv_field(std::string_view text);

}  // namespace archguard
