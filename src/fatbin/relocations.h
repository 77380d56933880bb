#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "host/host_file.h"

namespace archguard::fatbin {

// What the loader does to a place in memory. (System V ABI, AMD64 supplement, "Relocation Types".)
struct RelocationX64 {
  static constexpr std::uint32_t kAbsolute = 1, kGlobalData = 6, kJumpSlot = 7, kRelative = 8;  // R_X86_64_…
  std::uint64_t place = 0;
  std::uint32_t type = 0, symbol = 0;  // its index in .dynsym
  std::uint64_t addend = 0;
};

// Visits those in .rela.plt and .rela.dyn of a linked 64-bit file. False where they cannot be read.
bool visit_relocations(const ByteSource& source, const HostObject& host,
                       const std::function<void(const RelocationX64&)>& visit);

// The sections of the global offset table, through whose slots code reaches what other files may have.
std::vector<const Section*> global_offset_tables(const HostObject& host);

// Which places in memory are addresses of these `places` once the file is loaded, as the loader resolves
// symbols by itself or the linker left them in the global offset table. Nothing where not all of that could
// be read, or is more than files have.
struct LoadedPointers {
  std::map<std::uint64_t, std::uint64_t> slots;   // of the global offset table, and the place
  std::map<std::uint64_t, std::uint64_t> others;  // that lead there by a symbol
};
std::optional<LoadedPointers> find_loaded_pointers(const ByteSource& source, const HostObject& host,
                                                   const std::set<std::uint64_t>& places);

}  // namespace archguard::fatbin
