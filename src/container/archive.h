#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.h"

namespace archguard {

struct ArchiveMember {
  std::string name;
  std::uint64_t offset = 0;  // of its first byte, within the archive
  std::uint64_t size = 0;
};

bool has_archive_magic(ByteView start);  // ordinary or thin

// Calls `visit` for each member that is no symbol or name table, in the file's order, until the first damage,
// which is the error. A thin archive, whose members are other files, is an error too.
Status visit_archive(const ByteSource& source, const std::function<void(const ArchiveMember&)>& visit);

}  // namespace archguard
