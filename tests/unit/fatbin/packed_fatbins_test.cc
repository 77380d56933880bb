#include "fatbin/packed_fatbins.h"

#include <cstdlib>
#include <doctest/doctest.h>

#include "fatbin/fatbin_cursor.h"
#include "reading.h"
#include "support/builders/archive_builder.h"

// What is not kept of a large file's fat binaries is packed, and comes out as it was.

using namespace archguard;
using namespace archguard::test;
using fatbin::PackedFatbins;

namespace {

std::string text_of(const Fatbin& fatbin) {
  std::string text = std::to_string(fatbin.offset) + " " + std::to_string(fatbin.size) + " " +
                     fatbin.section + " " + std::to_string(fatbin.section_offset) + " " +
                     std::to_string(fatbin.relocatable) + std::to_string(fatbin.in_data) +
                     std::to_string(fatbin.bare) + std::to_string(fatbin.offload) +
                     std::to_string(fatbin.for_runtime) + std::to_string(fatbin.packed) + ":";
  for (const FatbinEntry& entry : fatbin.entries) {
    text += " " + std::to_string(entry.offset) + " " + image_name(entry) + " " +
            std::to_string(entry.kind_code) + (entry.ptx_isa ? " " + to_string(*entry.ptx_isa) : "") + " " +
            std::to_string(static_cast<int>(entry.compression)) + std::to_string(entry.obfuscated) +
            std::to_string(entry.optix) + std::to_string(entry.own_arch) + " " + std::to_string(entry.flags) +
            " " + entry.unknown + " " + std::to_string(entry.payload_offset) + " " +
            std::to_string(entry.stored_size) + " " + std::to_string(entry.uncompressed_size) + " " +
            entry.identifier + ";";
  }
  return text + "\n";
}

std::string fatbins_of(const DeviceCode& code) {
  std::string text;
  for (const DeviceObject& object : code.objects) {
    FatbinCursor cursor(object);
    Fatbin unpacked;
    while (const Fatbin* fatbin = cursor.next(unpacked)) text += text_of(*fatbin);
    CHECK_FALSE(cursor.failure());
  }
  return text;
}

DeviceCode read_first(const test::Bytes& bytes) {
  return read_device_code(MemorySource(bytes), "t.so", {}, Keep::first);
}

Fatbin fatbin_of_all_sorts(std::uint64_t offset) {
  Fatbin fatbin;
  fatbin.offset = offset;
  fatbin.size = 4096;
  fatbin.section = offset % 3 == 0 ? ".nv_fatbin" : "";
  fatbin.section_offset = offset % 3 == 0 ? 64 : 0;
  fatbin.relocatable = offset % 2 == 0;
  fatbin.bare = offset % 5 == 0;
  fatbin.offload = offset % 3 == 0;
  fatbin.for_runtime = offset % 6 == 0;
  fatbin.in_data = offset % 7 == 0;
  for (std::uint64_t i = 0; i < offset % 4; ++i) {
    FatbinEntry entry;
    entry.offset = offset + 16 + 100 * i;
    entry.kind = static_cast<EntryKind>(i % 5);
    entry.kind_code = static_cast<std::uint16_t>(0xfff0 + i);
    entry.arch = {static_cast<int>(90 + i), i == 2 ? Suffix::a : Suffix::none};
    if (i == 1) entry.or_archs = {{100, Suffix::f}, {100, Suffix::a}};
    if (i == 2) entry.ptx_isa = Version{9, 10};
    entry.compression = static_cast<Compression>(i % 3);
    entry.obfuscated = i == 1;
    entry.flags = i == 0 ? UINT64_MAX : 0x1011;
    if (i == 2) entry.unknown = "flag 0x4000000";
    entry.payload_offset = entry.offset + (i == 1 ? 0 : 64);
    entry.stored_size = i * 1000;
    entry.uncompressed_size = i == 2 ? UINT64_MAX : i;
    if (i == 1) entry.identifier = std::string(500, 'x');
    entry.optix = i == 0;
    entry.own_arch = i == 2;
    fatbin.entries.push_back(entry);
  }
  return fatbin;
}

// So many fat binaries of one small image each.
test::Bytes many(std::size_t count) {
  const test::Bytes one = FatbinBuilder{}.cubin(80, filler(8)).bytes(),
                    other = FatbinBuilder{}.cubin(90, filler(8)).bytes();
  test::Bytes all;
  all.reserve(count * one.size());
  for (std::size_t i = 0; i < count; ++i) {
    const test::Bytes& next = i % 3 == 0 ? other : one;
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

}  // namespace

TEST_CASE("packed containers come out as they went in, from memory and from a file") {
  for (const std::size_t most : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
    PackedFatbins packed(most);
    std::string expected, found;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Fatbin fatbin = fatbin_of_all_sorts(i * 37);
      packed.add(fatbin);
      expected += text_of(fatbin);
    }
    PackedFatbins::Reader reader(packed);
    for (int i = 0; i < 2000; ++i) {
      auto next = reader.next();
      REQUIRE(next.ok());
      found += text_of(next.value());
    }
    CHECK(found == expected);
    CHECK_FALSE(reader.next().ok());
  }
}

TEST_CASE("where no temporary file can be made, packed containers stay in memory") {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  PackedFatbins packed(1);
  std::string expected, found;
  for (std::uint64_t i = 0; i < 20; ++i) {
    packed.add(fatbin_of_all_sorts(i));
    expected += text_of(fatbin_of_all_sorts(i));
  }
  if (before != nullptr)
    setenv("TMPDIR", kept.c_str(), 1);
  else
    unsetenv("TMPDIR");
  PackedFatbins::Reader reader(packed);
  for (int i = 0; i < 20; ++i) found += text_of(reader.next().value());
  CHECK(found == expected);
}

TEST_CASE("a large file lists the same whether all of it is kept or the first of it") {
  const test::Bytes fatbins = many(80'000);
  test::Bytes damaged = fatbins, text = fatbins;
  damaged[88 * 36'000] ^= 1;  // a magic
  const test::Bytes ptx = bytes_of_text(
      std::string(1, '\0') +
      "// a comment\n.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n" +
      std::string(1, '\0'));
  for (int i = 0; i < 40; ++i) text.insert(text.end(), ptx.begin(), ptx.end());
  for (const test::Bytes& bytes :
       {fatbins, object_with(".nv_fatbin", fatbins), object_with(".data", text),
        object_with("__nv_relfatbin", damaged), ElfBuilder{}.section(".nv_fatbin", fatbins).bytes(),
        ElfBuilder{}.section("__nv_relfatbin", fatbins).bytes()}) {
    const DeviceCode all = read(bytes, "t.so"), first = read_first(bytes);
    CHECK(fatbins_of(first) == fatbins_of(all));
    CHECK(errors_of(first) == errors_of(all));
    CHECK(first.objects.front().packed.count != 0);
    CHECK(all.objects.front().packed.count == 0);
  }
  CHECK(read_first(many(32'000)).objects.front().packed.count == 0);
}

TEST_CASE("what is kept of a file to list it does not grow with its images") {
  for (const std::size_t count : {50'000, 200'000}) {
    const DeviceCode code = read_first(many(count));
    const DeviceObject& object = code.objects.front();
    CHECK(object.fatbins.size() == 32768);  // each with an entry
    CHECK(object.packed.count == count - 32768);
    CHECK(object.packed.in->in_memory() <= std::size_t{1} << 20);
  }
}

TEST_CASE("a fat binary with more images than are kept is listed, and found as data of a program") {
  FatbinBuilder builder;
  for (int i = 0; i < 80'000; ++i) builder.cubin(80, filler(8));
  test::Bytes bytes = builder.bytes();
  const DeviceCode code = read_first(bytes);
  CHECK(code.objects.front().fatbins.empty());
  CHECK(code.objects.front().holds_fatbins());
  CHECK(fatbins_of(code) == fatbins_of(read(bytes, "t.so")));
  bytes.insert(bytes.begin(), 16, 'x');
  const DeviceCode found = search_device_code(MemorySource(bytes), "t.bin", {}, Keep::first);
  CHECK(found.objects.front().holds_fatbins());
  CHECK(fatbins_of(found) == fatbins_of(search_device_code(MemorySource(bytes), "t.bin")));
}

TEST_CASE("the objects of an archive share what is kept") {
  ArchiveBuilder archive;
  for (int i = 0; i < 5; ++i) {
    const test::Bytes device_code = many(i == 1 ? 0 : 20'000);
    archive.member(std::to_string(i) + ".o", object_with(".nv_fatbin", device_code));
  }
  const test::Bytes bytes = archive.bytes();
  const DeviceCode first = read_first(bytes);
  CHECK(fatbins_of(first) == fatbins_of(read(bytes, "t.so")));
  REQUIRE(first.objects.size() == 5);
  CHECK_FALSE(first.objects[1].holds_fatbins());
  CHECK(first.objects[3].packed.in.get() == first.objects[4].packed.in.get());
  CHECK(first.objects[4].fatbins.empty());
  CHECK(first.objects[4].packed.count == 20'000);
}

TEST_CASE("containers that cannot be read back are an error of their file") {
  DeviceCode code = read_first(many(80'000));
  ++code.objects.front().packed.count;
  FatbinCursor cursor(code.objects.front());
  Fatbin unpacked;
  std::size_t count = 0;
  while (cursor.next(unpacked) != nullptr) ++count;
  CHECK(count == 80'000);
  REQUIRE(cursor.failure());
  CHECK(cursor.failure()->text() == "t.so: is not listed to its end: no fat binary is left");
  CHECK(cursor.next(unpacked) == nullptr);
}
