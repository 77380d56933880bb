#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_file.h"

namespace archguard::fatbin {

// The section of that name, where the file has its bytes.
const Section* section_of(const HostObject& host, std::string_view name);

// Of a linked ELF file, the name of each symbol that the loader has to find elsewhere, cut after `most` bytes
// (at most 4096), in the order of the names in the file: `visit` returns whether to go on. False where there
// is no such table, or no table of sections, or not all of it can be read.
bool visit_wanted_symbols(const ByteSource& source, const HostObject& host, std::size_t most,
                          const std::function<bool(std::string_view)>& visit);
// The same, and of what the loader copies into a program, as its linker knew no place for it (relocations of
// COPY).
bool visit_wanted_data(const ByteSource& source, const HostObject& host, std::size_t most,
                       const std::function<bool(std::string_view)>& visit);
bool wants_symbol(const ByteSource& source, const HostObject& host, std::string_view name);

// Those of the kernels whose host function a linked file or an object may want from elsewhere. Nothing where
// that is not told.
std::optional<std::set<std::string>> wanted_kernels(const ByteSource& source, const HostObject& host,
                                                    const std::set<std::string>& kernels);

// How many functions an ELF file defines of each of the names, as far as it has their symbols. Nothing where
// these cannot be read.
std::optional<std::map<std::string, std::size_t>> functions_among(const ByteSource& source,
                                                                  const HostObject& host,
                                                                  const std::set<std::string>& names);

struct FunctionPlaces {
  std::vector<std::uint64_t> starts;  // where in memory any whole function begins, ascending
  // Likewise any part of one that GCC splits off: what it calls (.part), and what it jumps to (.cold).
  std::vector<std::uint64_t> parts, cold;
  std::set<std::uint64_t> defined;  // where in memory they begin
  std::set<std::uint64_t> wanted;   // of those to be found elsewhere, their indices in .dynsym
};
// Of the functions of these names in a linked ELF file, and where all others begin. Nothing where it has no
// table of all symbols, or that cannot be read.
std::optional<FunctionPlaces> places_of_functions(const ByteSource& source, const HostObject& host,
                                                  const std::set<std::string>& names);

// Where in memory the functions begin that a linked ELF file defines and whose names begin so. Nothing as
// above.
std::optional<std::map<std::string, std::set<std::uint64_t>>> functions_beginning(
    const ByteSource& source, const HostObject& host, const std::set<std::string>& beginnings);

// Of a linked ELF file, the index in .dynsym of each symbol that it defines at one of these places in memory.
// False as of visit_wanted_symbols.
bool visit_symbols_at(const ByteSource& source, const HostObject& host, const std::set<std::uint64_t>& places,
                      const std::function<void(std::uint64_t index, std::uint64_t place)>& visit);

}  // namespace archguard::fatbin
