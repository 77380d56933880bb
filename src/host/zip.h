#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace archguard {

struct ZipMember {
  std::string name;
  unsigned method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
  bool link = false;              // a symbolic one: its bytes are where it leads
  std::uint32_t checksum = 0;     // CRC-32 of its bytes
  std::uint64_t stored_size = 0;  // what the zip file holds of it
  std::uint64_t size = 0;
  std::uint64_t header = 0;  // where its local header stands
};

// A zip file, which a wheel is, by its first bytes.
bool is_zip(ByteView start);

// The same, or one behind a script, as Python's zipapp, pex and shiv make them: it begins with `#!` and ends
// with a zip file's directory.
bool is_zip(const ByteSource& source);

// Does a zip file stand behind a program, an ELF or PE file, as self-extracting ones have it?
bool has_zip_behind(const ByteSource& source);

// How many members its directory says that it has, folders among them; 0 where it has none that can be read.
std::uint64_t count_zip_members(const ByteSource& source);

// Calls `visit` for each member that is no folder, in the directory's order, until the first damage, which is
// the error.
Status visit_zip(const ByteSource& source, const std::function<void(const ZipMember&)>& visit);

// The member's bytes, if `wanted` says so of its first bytes (4 KiB, or all of a smaller one); else nothing.
// Wanted or not, the whole member is read and its checksum compared: damage never makes a member look like
// one of no interest. Stored members are read in place; inflated ones are kept in memory up to 4 MiB and in a
// temporary file beyond: see is_inflated_to_disk(). `source` must outlive the answer.
Result<std::unique_ptr<ByteSource>> open_zip_member(const ByteSource& source, const ZipMember& member,
                                                    const std::function<bool(ByteView)>& wanted);
bool is_inflated_to_disk(const ZipMember& member);

}  // namespace archguard
