#include "host/archive.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "base/text.h"
#include "reading.h"
#include "support/builders/archive_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

test::Bytes object_file() {
  return ElfBuilder{}.relocatable().section(".nv_fatbin", filler(24)).bytes();
}

struct OwnedObject final : ByteSource {
  Bytes bytes = object_file();
  std::uint64_t size() const override { return bytes.size(); }
  Status read(std::uint64_t offset, void* out, std::size_t count) const override {
    return MemorySource(bytes).read(offset, out, count);
  }
};

}  // namespace

TEST_CASE("members are found under every way to write their names") {
  using Names = ArchiveBuilder::Names;
  for (const Names names : {Names::gnu, Names::bsd, Names::microsoft}) {
    const auto bytes = ArchiveBuilder{}
                           .names(names)
                           .member("a.o", object_file())
                           .member("a_name_that_needs_a_table.o", object_file())
                           .member("odd.fatbin", FatbinBuilder{}.cubin(80, filler(9)).bytes())
                           .bytes();
    const HostFile file = read(bytes, "libt.a");
    CHECK(errors_of(file) == "");
    CHECK(file.archive);
    REQUIRE(file.objects.size() == 3);
    CHECK(file.objects[0].member == "a.o");
    CHECK(file.objects[1].member == "a_name_that_needs_a_table.o");
    CHECK(file.objects[1].format == HostFormat::elf);
    CHECK_FALSE(file.objects[1].linked);
    CHECK(file.objects[2].member == "odd.fatbin");
    CHECK(file.objects[2].format == HostFormat::fatbin);
    CHECK(bytes[file.objects[1].offset] == 0x7f);
    CHECK(file.objects[1].size == object_file().size());
  }
}

TEST_CASE("a member's path may begin with a slash: only the names of tables are none") {
  const auto archive = [](std::string_view name, const test::Bytes& content = object_file()) {
    return read(ArchiveBuilder{}.member(name, content).member("b.o", object_file()).bytes(), "libt.a");
  };
  // `ar P`: "/t9/l.o/" in the header, and a long one in the table.
  for (const char* name : {"/t9/l.o", "/1/l.o", "/123", "/t9/a_name_that_needs_a_table.o"}) {
    const HostFile file = archive(name);
    CHECK(errors_of(file) == "");
    REQUIRE(file.objects.size() == 2);
    CHECK(file.objects[0].member == name);
    CHECK(file.objects[0].format == HostFormat::elf);
  }
  // The builder ends each name with "/".
  for (const char* name : {"/SYM64", "/<ECSYMBOLS>", "/<XFGHASHMAP>", "/<HYBRIDMAP>"}) {
    const HostFile file = archive(name, test::Bytes(16));
    CHECK(errors_of(file) == "");
    REQUIRE(file.objects.size() == 1);
    CHECK(file.objects[0].member == "b.o");
  }
}

TEST_CASE("an object that is named as a table of the archive is an error") {
  const std::string named =
      ": is an ELF file that is named as a table of the archive, so no linker reads it\n";
  for (const char* name : {"/SYM64", "/<ECSYMBOLS>", "/<XFGHASHMAP>", "/"}) {  // the builder adds a "/"
    const HostFile file = read(ArchiveBuilder{}.member(name, object_file()).bytes(), "libt.a");
    CHECK(errors_of(file) == "libt.a(" + std::string(name) + "/)" + named);
  }
  const HostFile bsd =
      read(ArchiveBuilder{}.names(ArchiveBuilder::Names::bsd).member("__.SYMDEF", object_file()).bytes(),
           "libt.a");
  CHECK(errors_of(bsd) == "libt.a(__.SYMDEF)" + named);
}

TEST_CASE("a damaged member is an error under its name, its neighbours are read") {
  auto broken = object_file();
  broken[5] = 3;
  const HostFile file =
      read(ArchiveBuilder{}.member("a.o", broken).member("b.o", object_file()).bytes(), "libt.a");
  CHECK(errors_of(file) == "libt.a(a.o): ELF byte order must be 1 (little-endian), found 3\n");
  REQUIRE(file.objects.size() == 2);
  CHECK(file.objects[1].sections.size() == 2);
}

TEST_CASE("a member one byte short is named, the ones before it are read") {
  auto bytes = ArchiveBuilder{}.member("a.o", object_file()).member("b.o", filler(32)).bytes();
  bytes.pop_back();
  const HostFile file = read(bytes, "libt.a");
  CHECK(errors_of(file) == "libt.a: archive member 'b.o/' at 0x1b4 needs 32 bytes, 31 remain\n");
  CHECK(file.objects.size() == 1);
}

TEST_CASE("a header that is none, or cut, stops the walk") {
  auto bytes = ArchiveBuilder{}.member("a.o", object_file()).bytes();
  auto longer = bytes;
  longer.insert(longer.end(), 59, 'x');
  CHECK(errors_of(longer, "libt.a") == "libt.a: archive member header at 0x1b4 needs 60 bytes, 59 remain\n");
  longer.push_back('x');
  CHECK(errors_of(longer, "libt.a") == "libt.a: no archive member header at 0x1b4\n");
}

TEST_CASE("a name outside of the table is an error") {
  auto bytes = ArchiveBuilder{}.member("a_name_that_needs_a_table.o", filler(2)).bytes();
  const std::string header = "/0              ";
  const auto at = std::search(bytes.begin(), bytes.end(), header.begin(), header.end());
  REQUIRE(at != bytes.end());
  at[1] = at[2] = '9';
  CHECK(errors_of(bytes, "libt.a") == "libt.a: archive member at 0xa2 has the bad name '/99'\n");
  at[1] = '3';
  at[2] = ' ';  // inside: another name, no error
  CHECK(read(bytes, "libt.a").objects[0].member == "ame_that_needs_a_table.o");
}

TEST_CASE("a thin archive's members are the files that it names, beside it; each missing one is an error") {
  const Bytes object = object_file();
  const auto files = [&](const std::string& name) -> Result<std::shared_ptr<const ByteSource>> {
    if (name == "lost.o") return Error{{}, "lost.o no such file", "build it"};
    return std::shared_ptr<const ByteSource>(std::make_shared<MemorySource>(object));
  };
  const auto bytes =
      ArchiveBuilder{}.thin().member("sub/a.o", object).member("lost.o", object).member("b.o", {}).bytes();
  std::string text;
  const Status status = visit_archive(
      MemorySource(bytes), files,
      [&](const ArchiveMember& member) {
        text += member.name + " " + std::to_string(member.offset) + " " + std::to_string(member.size) + "\n";
      },
      [&](const std::string& name, const Error& error) { text += name + ": " + error.text() + "\n"; });
  CHECK(status.ok());
  const std::string size = std::to_string(object.size());
  CHECK(text == "sub/a.o 0 " + size + "\nlost.o: lost.o no such file\nb.o 0 " + size + "\n");

  CHECK(errors_of(read(bytes, "nowhere/libt.a")) ==
        "nowhere/libt.a(sub/a.o): nowhere/sub/a.o no such file\n"
        "nowhere/libt.a(lost.o): nowhere/lost.o no such file\n"
        "nowhere/libt.a(b.o): nowhere/b.o no such file\n");
}

TEST_CASE("a file that a thin archive names without end is read a few times") {
  const auto object = std::make_shared<OwnedObject>();
  const OpenFile files = [&](const std::string&) {
    return Result<std::shared_ptr<const ByteSource>>(object);
  };
  ArchiveBuilder thin;
  thin.thin();
  for (int i = 0; i < 100; ++i) thin.member("./a.o", object->bytes);
  int visited = 0, refused = 0;
  const Bytes bytes = thin.bytes();
  const Status status = visit_archive(
      MemorySource(bytes), files, [&](const ArchiveMember&) { ++visited; },
      [&](const std::string& name, const Error& error) {
        CHECK(name == "./a.o");
        CHECK(error.what == "is named again and again by the thin archive, and is not read anew");
        ++refused;
      });
  CHECK(status.ok());
  CHECK(visited == 4);
  CHECK(refused == 96);
}

TEST_CASE("an archive that was cut between two members is betrayed by its symbol table") {
  const auto whole =
      ArchiveBuilder{}.symbols().member("a.o", object_file()).member("b.o", object_file()).bytes();
  CHECK(errors_of(read(whole, "t.a")).empty());
  const std::size_t second = whole.size() - 60 - object_file().size();
  const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(second));
  CHECK(errors_of(read(cut, "t.a")) == "t.a: is cut short: its symbol table names a member at " +
                                           hex(second) + ", it ends at " + hex(second) + "\n");
}

TEST_CASE("an archive whose symbol table is zeros cannot be linked") {
  ArchiveBuilder archive;
  archive.symbols();
  for (const char* name : {"a.o", "b.o", "c.o", "d.o", "e.o"}) archive.member(name, object_file());
  const Bytes whole = archive.bytes();
  CHECK(errors_of(read(whole, "t.a")).empty());
  const auto with_zeros = [&](std::size_t from, std::size_t count) {
    auto bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(68 + from), count, std::uint8_t{0});
    return errors_of(read(bytes, "t.a"));
  };
  const std::string lost =
      "t.a: the symbol table at 0x44 was overwritten by zeros, so that a linker does not find what the "
      "archive "
      "holds\n";
  CHECK(with_zeros(4, 4) == lost);
  CHECK(with_zeros(0, 8) == lost);
}

TEST_CASE("an archive whose names of symbols are zeros cannot be linked") {
  ArchiveBuilder archive;
  archive.symbols();
  for (int i = 0; i < 40; ++i) archive.member("a" + std::to_string(i) + ".o", object_file());
  Bytes bytes = archive.bytes();
  const std::size_t names = 68 + 4 + 40 * 4;
  CHECK(errors_of(read(bytes, "t.a")).empty());
  std::fill_n(bytes.begin() + names, 16, std::uint8_t{0});
  CHECK(errors_of(read(bytes, "t.a")).find("the symbol table at 0x44 was overwritten") != std::string::npos);
}

TEST_CASE("every cut of a small archive ends in an answer") {
  const auto whole = ArchiveBuilder{}.names(ArchiveBuilder::Names::bsd).member("a.o", object_file()).bytes();
  for (std::size_t size = 9; size < whole.size(); ++size) {
    const HostFile file = read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "t.a");
    // Whole between the symbol table and the first member's header, and without the last padding.
    CHECK_MESSAGE(file.errors.empty() == (size == 72 || size == whole.size() - 1), size);
  }
  for (std::size_t at = 8; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 0xff);
    for (const HostObject& object : read(bytes, "t.a").objects)
      CHECK(object.offset + object.size <= bytes.size());
  }
}
