#include "kept/file_result_record.h"

#include "kept/fields.h"

namespace archguard {

std::string encode(FileResult result) {
  kept::FieldWriter writer;
  writer(result);
  return writer.take();
}

std::optional<FileResult> decode_file_result(std::string_view bytes) {
  kept::FieldReader reader(bytes);
  FileResult result;
  reader(result);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return result;
}

}  // namespace archguard
