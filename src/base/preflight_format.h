#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

// The file that `archguard preflight-table` writes beside a program, and the program's preflight reads
// (preflight/archguard_preflight.c): magic, version, bytes of the build-id (u32 each), bytes of the items
// (u64); the build-id, padded to eight bytes; the items.
namespace archguard {

constexpr std::string_view kTableMagic = "AGUARDPF";
constexpr std::uint32_t kTableVersion = 1;
constexpr std::size_t kTableHeader = 24;
constexpr std::size_t kTableMost = 16u << 20;  // no preflight reads a longer one

// It has the headers of fat binaries, and no code. `start`: the file's first bytes, at least its header.
inline bool is_preflight_table(ByteView start, std::uint64_t file_size) {
  const Cursor in(start);
  if (start.size < kTableHeader || start.text().substr(0, kTableMagic.size()) != kTableMagic) return false;
  const std::uint64_t before = kTableHeader + (std::uint64_t{in.u32(12)} + 7) / 8 * 8;
  return before <= file_size && in.u64(16) == file_size - before;
}

}  // namespace archguard
