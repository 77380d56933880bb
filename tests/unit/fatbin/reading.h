#pragma once

#include <string>

#include "fatbin/fatbin.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

// What the tests of this folder ask of a file in memory.
namespace archguard::test {

inline DeviceCode read(const Bytes& bytes, const std::string& path) {
  return read_device_code(MemorySource(bytes), path);
}

// All errors, one a line.
inline std::string errors_of(const DeviceCode& code) {
  std::string text;
  for (const Error& error : code.errors) text += error.text() + "\n";
  return text;
}

// An object file whose first section, at 0x40, is this one.
inline Bytes object_with(const std::string& section, const Bytes& bytes) {
  return ElfBuilder{}.relocatable().section(section, bytes).bytes();
}
constexpr std::size_t kFirstSectionAt = 0x40;

// "sass 80; ptx 90a 8.7; …" of all fat binaries, each in brackets with its section and offset.
inline std::string outline(const DeviceCode& code) {
  static const char* const kinds[] = {"ptx", "sass", "ltoir", "reloc-ptx", "other"};
  std::string text;
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins) {
      text += where(object, fatbin) + (fatbin.relocatable ? " relocatable" : "") + ":";
      for (const FatbinEntry& entry : fatbin.entries) {
        text += std::string(" ") + kinds[static_cast<int>(entry.kind)] + " " + to_string(entry.arch);
        for (const Arch other : entry.or_archs) text += " or " + to_string(other);
        if (entry.ptx_isa) text += " " + to_string(*entry.ptx_isa);
        if (entry.compression != Compression::none)
          text += entry.compression == Compression::lz4 ? " lz4" : " zstd";
        if (entry.obfuscated) text += " obfuscated";
        if (!entry.unknown.empty()) text += " (" + entry.unknown + ")";
        text += ";";
      }
      text += "\n";
    }
  return text;
}

}  // namespace archguard::test
