#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"
#include "elf/elf.h"

namespace archguard {

// What a cubin (ELF, e_machine 190) says of itself: its header, and what apply_…() below add of its sections.
// Verified on the output of toolkits 8.0 … 13.5; docs/reference/fatbin.md has the table.
struct CubinIdentity {
  int abi = 0;                  // e_ident's ABI version where it is one of the two known generations, else 0
  int sm = 0;                   // 80, 120
  bool marked_a = false;        // a mark of the suffix `a`
  bool not_a = false;           // .nv.compat has the record of that mark, and it is not set
  std::optional<Suffix> named;  // by `-arch sm_…` of the notes
  std::optional<Version> toolkit;   // that made it
  std::uint32_t unknown_flags = 0;  // bits of e_flags that no cubin seen so far has
  std::uint32_t refused_flags = 0;  // those of them that keep a driver from loading it
};

CubinIdentity identify_cubin(const ElfHeader& header);

// For a linker: of -rdc=true, or of --extensible-whole-program, a whole program that may want functions of
// the device runtime (nvcc 13.0, `nvcc --help`; nvlink takes them as relocatable ones).
constexpr std::uint16_t kElfExtensible = 0xff00;
constexpr bool is_relocatable_cubin(std::uint16_t type) {
  return type == kElfRelocatable || type == kElfExtensible;
}

// Adds what the section `.nv.compat` says: `a`.
void apply_compat(ByteView section, CubinIdentity& cubin);
// Adds what the section `.note.nv.tkinfo` says: the toolkit, and the suffix of `-arch sm_…` in the command.
void apply_toolkit_info(ByteView section, CubinIdentity& cubin);

// The arch that the cubin is for; each that it may be for, without suffix first, where it does not tell its
// suffix: only ptxas writes `-arch` into the notes, and nothing else tells `f`.
std::vector<Arch> archs_of(const CubinIdentity& cubin);

// X.Y of the first "Cuda compilation tools, release X.Y" in a text: notes of a cubin, comments of PTX.
std::optional<Version> find_toolkit_release(std::string_view text);

// The bytes of parameters that a kernel takes, by its section `.nv.info.<kernel>`; 0 where that does not
// tell.
std::uint64_t parameters_in(ByteView section);

// What a kernel calls that the driver brings, by its section `.nv.info.<kernel>`: the symbols, and where in
// its code the calls stand.
struct DriverCalls {
  std::vector<std::uint32_t> symbols;  // indexes into the table that the section links to
  std::vector<std::uint32_t> offsets;  // sorted
};
DriverCalls driver_calls_in(ByteView section);

constexpr std::uint32_t kKernelInfo = 0x70000000;  // type of those sections
constexpr const char* kKernelInfoSection = ".nv.info.";
constexpr const char* kCompatSection = ".nv.compat";
constexpr const char* kToolkitInfoSection = ".note.nv.tkinfo";

}  // namespace archguard
