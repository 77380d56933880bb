#pragma once

#include <optional>
#include <string_view>

#include "base/version.h"
#include "container/elf.h"

namespace archguard {

// What a cubin (ELF, e_machine 190) says of itself. Verified on the output of toolkits 11.8 … 13.5;
// docs/reference/fatbin.md has the table.
struct CubinIdentity {
  int abi = 0;               // e_ident's ABI version where it is one of the two known generations, else 0
  int sm = 0;                // 80, 120
  char suffix = 0;           // 'a', 'f', or 0 for none
  bool suffix_known = true;  // false: this generation says it in sections that were not seen (yet)
  std::optional<Version> toolkit;  // that made it
};

CubinIdentity identify_cubin(const ElfHeader& header);

// Adds what the section `.nv.compat` says: `a`.
void apply_compat(ByteView section, CubinIdentity& cubin);
// Adds what the section `.note.nv.tkinfo` says: the toolkit, and the suffix of `-arch sm_…` in the command.
void apply_toolkit_info(ByteView section, CubinIdentity& cubin);

// X.Y of the first "Cuda compilation tools, release X.Y" in a text: notes of a cubin, comments of PTX.
std::optional<Version> find_toolkit_release(std::string_view text);

constexpr const char* kCompatSection = ".nv.compat";
constexpr const char* kToolkitInfoSection = ".note.nv.tkinfo";

}  // namespace archguard
