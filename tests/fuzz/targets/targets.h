#pragma once

#include "base/bytes.h"

// One function a reader. Each takes any bytes, and must neither crash, hang nor hand out what lies outside of
// them: a false promise ends the process. Standard input and files are never touched.
namespace archguard::fuzz {

void dynamic(ByteView bytes);
void elf(ByteView bytes);
void pe(ByteView bytes);
void promise_file(ByteView bytes);
void archive(ByteView bytes);
void archive_stream(ByteView bytes);
void saved_image(ByteView bytes);
void host_file(ByteView bytes);
void fatbin(ByteView bytes);
void entry(ByteView bytes);
void kept(ByteView bytes);
void loader_cache(ByteView bytes);
void lz4(ByteView bytes);
void zstd(ByteView bytes);
void cubin(ByteView bytes);
void ptx(ByteView bytes);
void verify(ByteView bytes);
void finder(ByteView bytes);
void fleet(ByteView bytes);
void fleet_import(ByteView bytes);
void waivers(ByteView bytes);
void zip(ByteView bytes);
void excluded(ByteView bytes);
void arch_list(ByteView bytes);

// Ends the process where a reader broke its word.
inline void promise(bool kept) {
  if (!kept) __builtin_trap();
}
// A thin archive, whose members are files of any name: the target `archive` reads those.
inline bool names_files(ByteView bytes) {
  return bytes.text().substr(0, 8) == "!<thin>\n";
}
inline bool inside(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

}  // namespace archguard::fuzz
