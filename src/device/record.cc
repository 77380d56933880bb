#include "device/record.h"

#include "base/text.h"

namespace archguard {

std::string encode_record(const Record& record) {
  std::string line;
  for (const auto& field : record) {
    if (&field != &record.front()) line += '\t';
    for (const char c : field) {
      if (c == '\\') {
        line += "\\\\";
      } else if (c == '\t') {
        line += "\\t";
      } else if (c == '\n') {
        line += "\\n";
      } else {
        line += c;
      }
    }
  }
  line += '\n';
  return line;
}

Record decode_record(std::string_view line) {
  Record record;
  for (const auto field : split(line, '\t')) {
    std::string text;
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (field[i] == '\\' && i + 1 < field.size()) {
        ++i;
        text += field[i] == 't' ? '\t' : field[i] == 'n' ? '\n' : field[i];
      } else {
        text += field[i];
      }
    }
    record.push_back(std::move(text));
  }
  return record;
}

}  // namespace archguard
