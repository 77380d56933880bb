#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "host/elf_symbols.h"

namespace archguard {

// What a linked ELF file tells the loader about other libraries.
struct ElfDynamic {
  bool is64 = true;
  std::uint16_t machine = 0;
  std::string interpreter;          // PT_INTERP: the loader of a program; empty for most libraries
  std::string build_id;             // bytes; empty where it was linked without --build-id
  std::string soname;               // DT_SONAME
  std::vector<std::string> needed;  // DT_NEEDED and DT_FILTER, in order
  // DT_AUXILIARY: loaded where it is found. `-fvisibility=hidden` given to the linker names one, too:
  // "visibility=hidden" in NVIDIA's libnvtx3interop.so.
  std::vector<std::string> auxiliary;
  std::string rpath, runpath;  // DT_RPATH, DT_RUNPATH; empty where absent
  bool binds_now =
      false;  // `ld -z now`: what is not found of the functions that it calls ends the program at its start
  bool shared = false;              // no program: ET_DYN that names no loader
  ElfTables tables = {};            // without those that stand in no segment
  bool no_default_folders = false;  // DF_1_NODEFLIB, `ld -z nodefaultlib`
};

// Nothing for what is no ELF file. Objects and static programs need nothing. An error is damage: the loader
// would refuse the file, or what it names cannot be told.
Result<std::optional<ElfDynamic>> read_elf_dynamic(const ByteSource& source);

}  // namespace archguard
