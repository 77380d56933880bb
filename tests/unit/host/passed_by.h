#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "host/byte_stream.h"

namespace archguard::test {

// All bytes of an archive that a checking stream passes on, `at_once` at a time, or what it fails with.
template <class Stream>
std::string passed_by(const std::string& archive, std::size_t at_once) {
  const MemorySource source({reinterpret_cast<const std::uint8_t*>(archive.data()), archive.size()});
  SourceStream bytes(source);
  Stream stream(bytes);
  std::string passed;
  Bytes buffer(at_once);
  for (;;) {
    const auto count = stream.next(buffer.data(), buffer.size());
    if (!count) return count.error().what;
    if (*count == 0) return passed;
    passed += ByteView(buffer.data(), *count).text();
  }
}

}  // namespace archguard::test
