#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace archguard {

struct ArchiveMember {
  std::string name;
  std::uint64_t offset = 0;  // of its first byte, within the archive, or in a thin one within its file
  std::uint64_t size = 0;
  // The bytes of a thin archive's member: another file, or a part of one. Nothing for a member within the
  // archive.
  std::shared_ptr<const ByteSource> elsewhere;
};

bool has_archive_magic(ByteView start);  // ordinary or thin

// The bytes of the file that a thin archive names, as the archive spells it; or the error.
using OpenFile = std::function<Result<std::shared_ptr<const ByteSource>>(const std::string&)>;

// Opens files named relative to the archive at `path`: one that is named twice is the same source twice.
// Nothing is held open: a thin archive may have thousands.
OpenFile beside(const std::string& path);

// What is wrong with one member, whose neighbours are still read.
using MemberError = std::function<void(const std::string& member, Error error)>;

// Calls `visit` for each member that is no symbol or name table, in the file's order, until the first damage,
// which is the error. The members of a thin archive are other files: what `open` refuses goes to `failed`.
Status visit_archive(const ByteSource& source, const OpenFile& open,
                     const std::function<void(const ArchiveMember&)>& visit, const MemberError& failed);

}  // namespace archguard
