#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace archguard {

// The first four bytes of a fat binary, little-endian, and those of an old format (docs/reference/fatbin.md):
// the one thing that must be known here of what src/fatbin reads, to tell such a file from others.
constexpr std::uint32_t kFatbinMagic = 0xBA55ED50, kOldFatbinMagic = 0x1EE55A01;
constexpr std::uint32_t kOffloadMagic = 0xAD10FF10;  // of what clang's offload driver packs
constexpr std::uint32_t kNvvmMagic = 0x7f4e43ed;     // of LTO-IR and OptiX-IR

// What a file or an archive member is, by its bytes and never by its name.
// `foreign`: an ELF file of a big-endian machine (s390x, 32-bit PowerPC), or a program of DOS; CUDA was made
// for none of them.
enum class HostFormat { elf, foreign, pe, mach_o, cubin, fatbin, offload, ptx, nvvm, other };

struct Section {
  std::string name;          // cut after 255 bytes
  std::uint64_t offset = 0;  // within the object
  std::uint64_t size = 0;
  std::uint64_t address = 0;  // in memory, as the linker chose it; 0 in objects
  // So many of its bytes, from the first on, does the loader put there; fewer than all where the headers of
  // the file do not fit together. Of no meaning for what is not loaded.
  std::uint64_t mapped = UINT64_MAX;
  // In COFF, how much of it the linker or compiler filled: zeros follow up to the file's alignment, or it is
  // larger than what the file has. 0: not told.
  std::uint64_t filled = 0;
  std::uint32_t index = 0;  // in the file's table of sections, as symbols count them
  bool has_bytes =
      true;  // false: SHT_NOBITS, as objcopy --only-keep-debug leaves them — "no data", not "no code"
  bool executable = false;  // machine code of the host
  bool loaded = true;       // false: an ELF section that is no part of the program's memory (no SHF_ALLOC)
  bool data =
      true;  // false: holds no data of the program, only its machine code, symbols, relocations, debug
};

// One host object: a file, or one member of an archive. Named regions of bytes; what is in them is
// src/fatbin's.
struct HostObject {
  std::string member;        // name of the archive member, empty for the file itself
  std::uint64_t offset = 0;  // of its first byte, within the file
  std::uint64_t size = 0;
  std::shared_ptr<const ByteSource>
      elsewhere;  // the file that holds it, where that is another: thin archives
  HostFormat format = HostFormat::other;
  bool linked = true;  // executable or shared library; false for .o: its device code may still be linked
  std::vector<Section>
      sections;           // those with a size, in the file's order; empty where it has no section table
  std::uint64_t end = 0;  // of all that the headers of a program speak of; 0: not known
};

// What could be read, and what could not: an error loses its own object, not its neighbours.
struct HostFile {
  std::vector<HostObject> objects;
  std::vector<Error> errors;
  std::vector<std::string> bitcode;  // objects of LLVM's bitcode or MSVC's /GL, as their errors name them
  bool archive = false;
  bool recognized = true;  // false: a file of no known format, which a walk over a folder passes over
};

// `path` names the file in errors, and `member` where the file is itself one of a zip file:
// "foo.whl(lib/bar.a(x.o))". A file of no known format is one error ("not an ELF file, archive, …"). A
// damaged object still appears, with what could be read of it, beside its error.
HostFile read_host_file(const ByteSource& source, const std::string& path);

// Is a file of a format that visit_host_file() reads? May one with these first bytes be (4 KiB, or all of a
// smaller one)? Those of a text may all stand in a comment above PTX.
bool is_host_file(const ByteSource& source);
bool may_be_host_file(ByteView start, std::uint64_t file_size);

// A Debian package, by its first bytes: an `ar` archive whose first member says so (deb(5)).
bool is_debian_package(ByteView start);
bool is_part_of_debian_package(ByteView start);

// Is it what git keeps in the place of a file that git-lfs, or git-annex, has to fetch?
bool is_git_lfs_pointer(ByteView start);
bool is_git_annex_pointer(ByteView start);

// What a compiler leaves of an object for the linker to compile, in a form of its own: LLVM's bitcode, bare
// or in its wrapper ("LLVM Bitcode File Format"), of clang's -flto; an object of MSVC's /GL. Device code may
// be in it, as bytes of no alignment.
bool is_bitcode(ByteView start);
bool is_msvc_gl(ByteView start);

// The same, object by object: `visit` sees each one and `objects` of the result stays empty, so that an
// archive of many members does not need their sections in memory at once.
HostFile visit_host_file(const ByteSource& source, const std::string& path, const std::string& member,
                         const std::function<void(const HostObject&)>& visit);

// The object's own bytes; `file` is what it was read from.
PartSource bytes_of(const HostObject& object, const ByteSource& file);

// "libfoo.so", "libfoo.a(x.o)"
std::string object_name(const std::string& path, const std::string& member);

}  // namespace archguard
