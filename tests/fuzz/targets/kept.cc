#include "kept/file_result_record.h"
#include "targets.h"

namespace archguard::fuzz {

// What is inside a record, whose checksum a fuzzer would never guess.
void kept(ByteView bytes) {
  const auto result = decode_file_result(bytes.text());
  promise(!result || encode(*result) == bytes.text());
}

}  // namespace archguard::fuzz
