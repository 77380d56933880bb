#include "device/elf_section.h"

namespace archguard {
namespace {

constexpr std::uint64_t kElfHeaderBytes = 64;
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::uint64_t kMostSectionNames = 1 << 20;

}  // namespace

// ELF-64 (gABI, "ELF Header", "Sections"): e_shoff at 0x28, e_shnum at 0x3c, e_shstrndx at 0x3e; of a section
// header sh_offset at 0x18 and sh_size at 0x20. The section e_shstrndx holds the names, each ended by a NUL.
bool names_elf_section(const ByteSource& file, std::string_view name) {
  const auto header_bytes = read_bytes(file, 0, kElfHeaderBytes);
  if (!header_bytes) return false;
  const ByteView header_view(*header_bytes);
  if (header_view.text().substr(0, 6) != std::string_view("\x7f"
                                                          "ELF\x02\x01",
                                                          6))
    return false;
  const Cursor header(header_view);
  const std::uint64_t table = header.u64(0x28), names_index = header.u16(0x3e);
  if (names_index >= header.u16(0x3c) || table > file.size()) return false;
  const auto section = read_bytes(file, table + names_index * kSectionHeaderBytes, kSectionHeaderBytes);
  if (!section) return false;
  const std::uint64_t size = Cursor(*section).u64(0x20);
  if (size > kMostSectionNames) return false;
  const auto names = read_bytes(file, Cursor(*section).u64(0x18), size);
  if (!names) return false;
  const std::string wanted = '\0' + std::string(name) + '\0';
  return ByteView(*names).text().find(wanted) != std::string_view::npos;
}

}  // namespace archguard
