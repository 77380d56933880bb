#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "io/window.h"

// The headers of COFF objects and of PE images, which share them (Microsoft Learn, "PE Format").
namespace archguard {

// A PE image (.exe, .dll) or a COFF object (.obj), by the first bytes of the file.
bool is_pe(ByteView start);
bool is_coff_object(ByteView start, std::uint64_t file_size);

// A program of DOS, 16-bit Windows or OS/2, which begin with "MZ" as well: without the offset of a PE header,
// or with a header of their own there.
bool is_dos_program(ByteView start, const ByteSource& source);

// Offsets are of the file.
struct CoffHeader {
  bool linked = false;  // an image; else an object
  std::uint64_t sections = 0, sections_at = 0;
  std::uint64_t symbols_at = 0;                      // 0: no symbols
  std::uint64_t strings_at = 0;                      // 0: no string table
  std::uint64_t optional_at = 0, optional_size = 0;  // of an image: its optional header
};
// `in` reads a file that is_pe() or is_coff_object() has recognized.
Result<CoffHeader> read_coff_header(Window& in, std::uint64_t file_size);

// One header of the section table.
constexpr std::size_t kCoffSectionSize = 40;
struct CoffSection {
  std::string_view
      name;  // as it stands there: up to eight bytes, or "/123"; lives as long as the header's bytes
  std::uint32_t size_in_memory = 0, address = 0;  // from the base of the image
  std::uint32_t size_in_file = 0, offset = 0;
  bool is_code = false, has_bytes = false;
};
CoffSection coff_section(ByteView header);

}  // namespace archguard
