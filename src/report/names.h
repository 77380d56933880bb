#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coverage/verification.h"
#include "fatbin/fatbin.h"

namespace archguard {

// The spellings of the JSON documents, which the text shares where it can.
std::string_view name_of(EntryKind kind);           // sass ptx ltoir reloc-ptx other
std::string_view name_of(Compression compression);  // none lz4 zstd
std::string_view name_of(KernelState state);        // real empty trap prints unknown
std::string_view name_of(VariableSpace space);      // device constant managed reference
std::string_view name_of(Coverage coverage);        // covered not-covered unknown
std::string_view name_of(Outcome outcome);          // the same and no-device-code

// What a program prints at run time, as users paste it (cudaGetErrorString); empty of other numbers.
std::string_view seen_as(int code);

// "'a(int)', 'b(int)' and 3 more" for mangled names, each shortened() to `most`.
std::string name_list(const std::vector<std::string>& names, std::size_t most = 0);

// A long name without its middle, "void flash_fwd_kernel<Flash_f…128, 4>, false>(params)": of at most so many
// columns, where `most` is not 0; a name is left at least 40. Not within a character.
std::string shortened(const std::string& name, std::size_t most);

// "541.6 MB": powers of 1000, as disks and packages are measured.
std::string human_size(std::uint64_t bytes);

// What a file does that imports these functions: "compiles or loads code at run time (…)…".
std::string runtime_code_text(const std::vector<std::string>& functions);

// "passed over unread: 4 archives or compressed files (…)": of a folder; not empty.
std::string passed_over_text(const PassedOver& passed_over);

// "no binary in build, list.txt": what to say where none of the files in them was visited.
std::string no_binary_text(const std::vector<std::string>& looked_in);

// The last part of a path.
std::string_view file_name(std::string_view path);

}  // namespace archguard
