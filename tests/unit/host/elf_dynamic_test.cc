#include "host/elf_dynamic.h"

#include <doctest/doctest.h>

#include "host/host_file.h"
#include "support/builders/elf_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

ElfBuilder program() {
  return ElfBuilder{}
      .executable()
      .interpreter("/lib64/ld-linux-x86-64.so.2")
      .needed("libfoo.so.1")
      .needed("libc.so.6")
      .soname("libprogram.so")
      .rpath("$ORIGIN/../lib:/opt")
      .runpath("/usr/local/lib");
}

std::string error_of(const test::Bytes& bytes) {
  const auto read = read_elf_dynamic(MemorySource(bytes));
  return read ? "" : read.error().text();
}

ElfDynamic dynamic_of(const test::Bytes& bytes) {
  auto read = read_elf_dynamic(MemorySource(bytes));
  REQUIRE(read);
  REQUIRE(read->has_value());
  return **read;
}

}  // namespace

TEST_CASE("what a linked file tells the loader, in both classes, with and without a section table") {
  for (const bool bits32 : {false, true})
    for (const bool sections : {true, false}) {
      ElfBuilder elf = program();
      if (bits32) elf.bits32();
      if (!sections) elf.without_section_table();
      const ElfDynamic dynamic = dynamic_of(elf.bytes());
      CHECK(dynamic.is64 != bits32);
      CHECK(dynamic.machine == 62);
      CHECK(dynamic.interpreter == "/lib64/ld-linux-x86-64.so.2");
      CHECK(dynamic.soname == "libprogram.so");
      CHECK(dynamic.needed == std::vector<std::string>{"libfoo.so.1", "libc.so.6"});
      CHECK(dynamic.rpath == "$ORIGIN/../lib:/opt");
      CHECK(dynamic.runpath == "/usr/local/lib");
      CHECK(!dynamic.no_default_folders);
    }
  CHECK(dynamic_of(ElfBuilder{}.no_default_folders().bytes()).no_default_folders);
  const ElfDynamic filter = dynamic_of(ElfBuilder{}
                                           .dynamic_text(0x7ffffffd, "libaux.so")
                                           .needed("liba.so")
                                           .dynamic_text(0x7fffffff, "libfilter.so")
                                           .bytes());
  CHECK(filter.needed == std::vector<std::string>{"liba.so", "libfilter.so"});
  CHECK(filter.auxiliary == std::vector<std::string>{"libaux.so"});
}

TEST_CASE("objects and static programs need nothing; what is no ELF file is no answer") {
  CHECK(dynamic_of(ElfBuilder{}.relocatable().section(".text", filler(8)).bytes()).needed.empty());
  CHECK(dynamic_of(ElfBuilder{}.executable().load_segment(0, 64).bytes()).needed.empty());
  for (const char* text : {"", "!<arch>\n", "\x7f"}) {
    const auto read = read_elf_dynamic(MemorySource(bytes_of_text(text)));
    REQUIRE(read);
    CHECK(!read->has_value());
  }
}

TEST_CASE("damage names what is wrong and where") {
  CHECK(error_of(bytes_of_text("\x7f"
                               "ELF")) == "ELF header needs 52 bytes, the file has 4");
  CHECK(error_of(ElfBuilder{}.needed("").bytes()) == "needs a library without a name");
  CHECK(error_of(ElfBuilder{}.needed("a").dynamic_value(5, 0x100).bytes()) == "");  // the last one counts
  CHECK(error_of(ElfBuilder{}.dynamic_value(1, 0x1000).bytes()) ==
        "name of a needed library at 0x10b0 does not end within its table");
  CHECK(error_of(ElfBuilder{}.dynamic_value(1, 0).dynamic_value(0, 0).bytes()) ==
        "dynamic section names no table of texts");
  ElfBuilder many;
  for (int i = 0; i < 4097; ++i) many.dynamic_value(1, 0);
  CHECK(error_of(many.bytes()) == "needs 4097 libraries, at most 4096 are followed");
  ElfBuilder long_names;
  long_names.needed(std::string(4096, 'x'));
  for (int i = 0; i < 64; ++i) long_names.dynamic_value(1, 1);  // the same name, at no cost to the file
  CHECK(error_of(long_names.bytes()) == "needs libraries whose names take more than 256 KiB");

  auto outside = ElfBuilder{}.needed("a").bytes();
  outside[64 + 16] = 0xff;  // the address of PT_LOAD, the first segment
  CHECK(error_of(outside) == "dynamic section's table of texts, at address 0x4000b0, is in no segment");
  auto sizes = ElfBuilder{}.needed("a").bytes();
  sizes[54] = 32;  // of a program header
  CHECK(error_of(sizes) == "ELF program headers must have 56 bytes, found 32");
}

TEST_CASE("a cut never loses a needed library in silence; a flipped byte gives an answer or an error") {
  const auto whole = program().bytes();
  for (const auto& bytes : {whole, program().without_section_table().section(".data", filler(8)).bytes()})
    for (std::size_t size = 4; size < bytes.size(); ++size) {
      const test::Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const auto read = read_elf_dynamic(MemorySource(cut));
      const bool lost = read && (*read)->needed != dynamic_of(whole).needed;
      CHECK((!lost || !read_host_file(MemorySource(cut), "t").errors.empty()));
    }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto flipped = whole;
    flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ 0xff);
    (void)error_of(flipped);
  }
}
