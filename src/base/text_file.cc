#include "base/text_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace archguard {
namespace {

constexpr std::size_t kTextBytesAtOnce = std::size_t{64} << 10;

// To the end, or until it is too large. The error number, 0 where there is none.
int read_to_end(std::FILE* file, std::size_t most_bytes, std::string& text) {
  for (;;) {
    const std::size_t had = text.size();
    text.resize(had + kTextBytesAtOnce);
    errno = 0;
    const std::size_t got = std::fread(&text[had], 1, kTextBytesAtOnce, file);
    text.resize(had + got);
    if (std::ferror(file) != 0) return errno == 0 ? EIO : errno;
    if (got == 0 || text.size() > most_bytes) return 0;
  }
}

}  // namespace

std::string text_file_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes) {
  auto opened = open_text_file(path);
  if (!opened) {
    Error failure = std::move(opened).error();
    if (is_missing(failure)) failure.fix = fix_of_missing(path);
    return failure;
  }
  std::FILE* const file = *opened;
  std::string text;
  const int error = read_to_end(file, most_bytes, text);
  if (file != stdin) std::fclose(file);
  if (error != 0)
    return Error{text_file_name(path), std::string("cannot be read: ") + std::strerror(error), {}};
  if (text.size() > most_bytes)
    return Error{text_file_name(path), "is larger than " + std::to_string(most_bytes >> 20U) + " MiB", {}};
  return text;
}

}  // namespace archguard
