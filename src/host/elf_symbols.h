#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace archguard {

// Where the tables stand that the dynamic segment names. (System V ABI, "Dynamic Section"; a size is that up
// to the end of the segment where the file tells none.)
struct ElfPlace {
  std::uint64_t offset = 0, size = 0;
};
struct ElfRelocations {
  ElfPlace place;
  bool with_addend = true;  // Rela; else Rel
  bool of_calls = false;    // DT_JMPREL
};
struct ElfTables {
  bool is64 = true;
  ElfPlace symbols, texts, hash, gnu_hash;
  std::vector<ElfRelocations> relocations;
};

// A symbol that a relocation asks for, and that the file does not define.
struct WantedName {
  std::string name;  // cut after `name_most` bytes
  bool weak = false;
  bool of_call = false;  // by relocations of calls alone, which the loader may leave until the call
};
// In the order of the names in the file. What is only named, without a relocation (`ld -u`, or code that
// --gc-sections dropped), is not wanted.
void visit_wanted_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                        const std::function<void(const WantedName&)>& visit);

// The names of symbols that the file defines itself and yet leaves to the loader to look for, which takes the
// first file that has them: none with `ld -Bsymbolic`, of functions none with -Bsymbolic-functions, and none
// that is protected.
void visit_interposable_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                              const std::function<void(const std::string&)>& visit);

// Each symbol that others may find in the file, in the order of the names there; `visit` returns whether to
// go on. Nothing where the file has no hash table of symbols, without which the loader finds none.
void visit_defined_names(const ByteSource& source, const ElfTables& tables, std::size_t name_most,
                         const std::function<bool(const std::string&)>& visit);

}  // namespace archguard
