#pragma once

#include <string>
#include <vector>

#include "host/host_file.h"

// What the tests of this folder ask of a file in memory.
namespace archguard::test {

inline HostFile read(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  return read_host_file(MemorySource(bytes), path);
}

// All errors, one a line.
inline std::string errors_of(const HostFile& file) {
  std::string text;
  for (const Error& error : file.errors) text += error.text() + "\n";
  return text;
}

inline std::string errors_of(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  return errors_of(read(bytes, path));
}

}  // namespace archguard::test
