// Cubins and PTX that stand in a host file as data, and what only looks like them.
#include <doctest/doctest.h>

#include "base/text.h"
#include "reading.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/pe_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

const std::string kPtx =
    "//\n// Cuda compilation tools, release 13.0, V13.0.88\n//\n\n.version 9.0\n.target sm_90\n.address_size "
    "64\n"
    ".visible .entry k(.param .u64 p)\n{\n ret; // done }\n}\n";

Bytes cubin(int sm, bool relocatable = false) {
  CubinBuilder builder;
  builder.sm(sm)
      .toolkit_info("13.0", "-arch sm_" + std::to_string(sm))
      .kernel("k", sass::join({sass::store(), sass::exit()}));
  if (relocatable) builder.relocatable();
  return builder.bytes();
}

Bytes text(std::string_view characters) {
  return ByteWriter{}.text(characters).bytes();
}

Bytes library(const Bytes& data) {
  return ElfBuilder{}.section(".text", filler(64), 1, 6).section(".rodata", data).bytes();
}

// "sass 80 at 0x10 of 0x300; …" of the bare images, and the errors.
std::string found(const Bytes& file) {
  const DeviceCode code = read(file, "p");
  static const char* const kinds[] = {"ptx", "sass", "ltoir", "reloc-ptx", "other"};
  std::string all;
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins) {
      if (!fatbin.bare) continue;
      REQUIRE(fatbin.entries.size() == 1);
      const FatbinEntry& entry = fatbin.entries[0];
      CHECK(entry.payload_offset == fatbin.offset);
      CHECK(entry.stored_size == fatbin.size);
      all += std::string(kinds[static_cast<int>(entry.kind)]) + " " + to_string(entry.arch) + " at " +
             hex(fatbin.offset - fatbin.section_offset) + " of " + hex(fatbin.size) +
             (entry.unknown.empty() ? "" : " (" + entry.unknown + ")") +
             (fatbin.relocatable ? " relocatable" : "") + (entry.optix ? " optix" : "") + "; ";
    }
  return all + errors_of(code);
}

std::string found_in(std::string_view characters) {
  return found(library(text(characters)));
}

}  // namespace

TEST_CASE("a cubin among the data of a file is found at any offset, whatever stands around it") {
  const Bytes image = cubin(80);
  const std::string size = hex(image.size());
  for (const std::size_t before : {0, 1, 24, 511, 4095}) {
    const Bytes data = ByteWriter{}.zeros(before).append(image).text("more").bytes();
    CHECK(found(library(data)) == "sass 80 at " + hex(before) + " of " + size + "; ");
    CHECK(found(ElfBuilder{}.section(".data", data).without_section_table().bytes()) ==
          "sass 80 at " + hex(before + 0x40) + " of " + size + "; ");
  }
  CHECK(found(PeBuilder{}.section(".rdata", image).bytes()) == "sass 80 at 0x0 of " + size + "; ");
  CHECK(found(object_with(".rodata", image)) == "sass 80 at 0x0 of " + size + "; ");
  CHECK(found(library(cubin(90, true))) ==
        "sass 90 at 0x0 of " + hex(cubin(90, true).size()) + " relocatable; ");
  const Bytes two = ByteWriter{}.append(image).append(cubin(90)).bytes();
  CHECK(found(library(two)) == "sass 80 at 0x0 of " + size + "; sass 90 at " + size + " of " + size + "; ");
  // Beside a fat binary, which holds such images itself.
  const Bytes fatbin = FatbinBuilder{}.cubin(80, image).ptx("90", "9.0", kPtx).bytes();
  CHECK(found(library(fatbin)) == "");
  CHECK(found(library(ByteWriter{}.append(fatbin).append(image).append(fatbin).bytes())) ==
        "sass 80 at " + hex(fatbin.size()) + " of " + size + "; ");
}

TEST_CASE("PTX is found with the comments above it, and ends where the module does") {
  const std::string size = hex(kPtx.size()), image = "ptx 90 at 0x5 of " + size + "; ";
  CHECK(found_in("word\0"s + kPtx + '\0' + "next") == image);
  CHECK(found_in("word\0"s + kPtx) == image);
  CHECK(found_in("word\n" + kPtx + "\xff\xfe") == image);
  CHECK(found_in("word\n" + kPtx + "src/main.rs{") == image);  // texts without an end between them
  const std::string own = ".version 9.0\n.target sm_90\n.entry k() { exit; }";
  CHECK(found_in(own) == "ptx 90 at 0x0 of " + hex(own.size()) + "; ");
  CHECK(found_in("\t " + own) == "ptx 90 at 0x0 of " + hex(own.size() + 2) + "; ");
  CHECK(found_in(own + "\0"s + own) == "ptx 90 at 0x0 of 0x2f; ptx 90 at 0x30 of 0x2f; ");
  CHECK(found_in("/* a */\n" + own) == "ptx 90 at 0x8 of 0x2f; ");
  // Longer than what is read at once.
  std::string body(200'000, ' ');
  for (std::size_t at = 0; at < body.size(); at += 50) body[at] = '\n';
  const std::string large = own.substr(0, own.size() - 1) + body + "}";
  CHECK(found_in(large) == "ptx 90 at 0x0 of " + hex(large.size()) + "; ");
}

TEST_CASE("a loaded table of strings may hold images, that of the dynamic symbols holds names") {
  const Bytes image = cubin(80);
  const std::string here = "sass 80 at 0x0 of " + hex(image.size()) + "; ";
  const auto table = [&] { return ElfBuilder{}.section(".names", image, 3, 2); };  // SHT_STRTAB, loaded
  CHECK(found(table().bytes()) == here);
  CHECK(found(table().linked_section(".dynsym", filler(24), 11, 1).bytes()) == "");  // SHT_DYNSYM
  // What is no table of strings is none of names, whatever the symbols say.
  CHECK(found(ElfBuilder{}.section(".mine", image).linked_section(".dynsym", filler(24), 11, 1).bytes()) ==
        here);
  CHECK(found(table().linked_section(".dynsym", filler(24), 11, 9).bytes()) == here);
}

TEST_CASE("templates, pieces and words of PTX are no images") {
  CHECK(found_in("\t.version %s\n\0\t.target  %s\n\0"sv) == "");
  CHECK(found_in("Missing .version 9.0\n.target sm_90\n") == "");
  CHECK(found_in("Missing .version 9.0\n.target sm_90\n.entry k() { ") == "");
  CHECK(found_in("Missing '.version 9.0\n.target sm_90\n.entry' in it\n") == "");
  CHECK(found_in(".version 9.0\n.target sm_%d\n.entry k() { exit; }") == "");
  CHECK(found_in(".version 9.0\n.address_size 64\n.entry k() { exit; }") == "");
  CHECK(found_in(".version 9.0\n.target sm_90\n.address_size 64\n") == "");
  CHECK(found_in(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry ") == "");
  CHECK(found_in(".version 9.0\n.target sm_90\n.entry k(\0);"sv) == "");
  CHECK(found_in(".version 9.0\n.target sm_90\n.entry k() { mov.u32 %r1, \0; }"sv) == "");
  CHECK(found_in(".dynstr\0.gnu.version\0.gnu.version_r\0"sv) == "");
  CHECK(found_in(".version 9.0") == "");
}

TEST_CASE("PTX that is text among text is found, and one whose end is not found is unknown") {
  const std::string own = ".version 9.0\n.target sm_90\n.entry k() { exit; }\n", size = hex(own.size());
  // Rust's texts have no NUL at the end.
  CHECK(found_in("\0called on None"s + own + "more") == "ptx 90 at 0xf of " + size + "; ");
  CHECK(found_in("\0\0\x01\x41"s + own + '\0') == "ptx 90 at 0x4 of " + size + "; ");
  for (const char* behind : {".note.gnu", ".global", ".file not found: ", ".so.1.debug_line"})
    CHECK(found_in("\0"s + own.substr(0, own.size() - 1) + behind) ==
          "ptx 90 at 0x1 of " + hex(own.size() - 1) + "; ");
  CHECK(found_in(own + ".note.gnu /* \"" + own) ==
        "ptx 90 at 0x0 of " + size + "; ptx 90 at " + hex(own.size() + 14) + " of " + size + "; ");
  CHECK(found_in(own + own) == "ptx 90 at 0x0 of " + size + "; ptx 90 at " + size + " of " + size + "; ");
  const std::string two = kPtx + kPtx;
  CHECK(found_in(two) == "ptx 90 at 0x0 of " + hex(kPtx.size()) + "; ptx 90 at " + hex(kPtx.size()) + " of " +
                             hex(kPtx.size()) + "; ");
  CHECK(found_in("\0\xef\xbb\xbf"s + own + '\0') ==
        "ptx 90 at 0x4 of " + size + " (a byte order mark stands before it); ");
  for (const std::string comments : {"//\n// Generated by a compiler\n//\n\n", "// k\n"})
    CHECK(found_in("text\xef\xbb\xbf"s + comments + own + '\0')
              .find(" (a byte order mark stands before it); ") != std::string::npos);
  CHECK(found_in("\0\xef\xbb\xbftext\n// k\n"s + own + '\0').find("byte order mark") == std::string::npos);
  for (const std::string before : {"// ", "//", "/*", "/* ", "x // ", " * ", "\\"})
    CHECK(found_in("a\n" + before + own) == "");
  for (const std::string before : {"called on ", "\"", "'", "`", "x(", "R\"(", "https://x "})
    CHECK(found_in("a\n" + before + own) == "ptx 90 at " + hex(2 + before.size()) + " of " + size + "; ");
  CHECK(found_in("a\n# 1 \"k.cu\"\n" + own) ==
        "ptx 90 at 0xd of " + size + " (a line marker stands before it); ");
  CHECK(found_in(own.substr(0, own.size() - 1) + "\n# 7 \"k.cu\"\n.entry l() { exit; }#[") ==
        "ptx 90 at 0x0 of " + hex(own.size() + 11 + 20) + "; ");
  const std::string gap =
      ".version 9.0\n// " + std::string(3000, 'x') + "\n.target sm_90\n// \x1b[1m\n.entry k() { exit; }";
  CHECK(found_in(gap) == "ptx 90 at 0x0 of " + hex(gap.size()) + "; ");

  const std::string body = ".version 9.0\n.target sm_90\n.entry k() {\n mov.u32 %r1, 1;\n",
                    rest = " add.u32 %r2, %r1, %r1;\n exit;\n}\n";
  CHECK(found_in(body + std::string(512, '\0') + rest) ==
        "p(.rodata+" + hex(body.size()) + "): " + std::to_string(body.size()) +
            " bytes behind the beginning of PTX, zeros stand in it: they were written over it, unless the "
            "program fills them in\n");
  for (const std::string& other :
       {std::string(64, '\0') + rest, std::string(512, '\0') + "expected a name", std::string(512, '\0')})
    CHECK(found_in(body + other) == "");
  const std::string compiled = "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n" + body;
  CHECK(found_in(compiled + std::string(512, '\0') + "expected a name")
            .find("bytes behind the beginning of PTX, zeros stand in it") != std::string::npos);
  CHECK(found_in(compiled + std::string(512, '\0')).find("zeros stand in it") != std::string::npos);
  const std::string head = "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 9.0\n.target sm_90\n";
  CHECK_MESSAGE(found_in(head + std::string(512, '\0')) == "", "a head to complete, in an array");
  CHECK_MESSAGE(found_in(compiled + std::string(64, '\0') + "expected a name") == "", "alignment");
  const std::string open = ".version 9.0\n.target sm_90\n.entry k() { ";
  const auto unknown = [](std::size_t length) { return " of " + hex(length) + " (its end is not found); "; };
  CHECK(found_in(open + "/* exit; }") == "ptx 90 at 0x0" + unknown(open.size() + 10));
  CHECK(found_in(open + "/* exit; }\n" + own + "\0"s) ==
        "ptx 90 at 0x0" + unknown(open.size() + 11 + own.size()));
  CHECK(found_in(open + "exit; \x01") == "ptx 90 at 0x0" + unknown(open.size() + 6));
  CHECK(found_in(open + own) ==
        "ptx 90 at 0x0" + unknown(open.size()) + "ptx 90 at " + hex(open.size()) + " of " + size + "; ");
}

TEST_CASE("a search costs in proportion to what is searched, whatever it holds") {
  class Counter : public ByteSource {
   public:
    explicit Counter(Bytes bytes) : bytes_(std::move(bytes)), source_(bytes_) {}
    std::uint64_t size() const override { return source_.size(); }
    Status read(std::uint64_t offset, void* out, std::size_t count) const override {
      read_ += count;
      return source_.read(offset, out, count);
    }
    std::uint64_t count() const { return read_; }

   private:
    Bytes bytes_;
    MemorySource source_;
    mutable std::uint64_t read_ = 0;
  };
  const auto work = [](std::string_view piece, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += piece;
    const Counter source(library(text(all)));
    read_device_code(source, "p");
    return source.count();
  };
  Bytes cubin_head = cubin(80);
  cubin_head.resize(64);
  const std::string cubin_text(cubin_head.begin(), cubin_head.end());
  for (const std::string& piece : {".version 7.0\n.target sm_80\n{\n"s, ".version 7.0\n.target sm_80\n/*\n"s,
                                   ".version 7.0\n.target sm_80\n\"\n"s, ".version 7.0\n.target sm_80\n{\0"s,
                                   ".version 7.0\n.target sm_80\n"s, "//x.version 7.0\n.target sm_80 "s,
                                   ".version 7.0\n/*"s, ".version 7.0\n.target sm_80\n.entry k(){}\n"s,
                                   cubin_text, "\x50\xed\x55\xba\x01\0\x10\0\x08\0\0\0\0\0\0\0"s}) {
    CAPTURE(piece);
    const std::uint64_t once = work(piece, 4000), twice = work(piece, 8000);
    CHECK(twice * 2 <= once * 5);
    CHECK(twice <= piece.size() * 8000 * 100);
  }
}

TEST_CASE("PTX that OptiX compiles is told apart") {
  const std::string ptx =
      ".version 9.0\n.target sm_80\n.entry k() { call (%r1), _optix_get_launch_index_x, (); }";
  CHECK(found_in(ptx) == "ptx 80 at 0x0 of " + hex(ptx.size()) + " optix; ");
  CHECK(found_in(".version 9.0\n.target sm_80\n.entry k() { exit; }\0_optix_get_launch_index_x"sv) ==
        "ptx 80 at 0x0 of 0x2f; ");
  // Across what is read at once.
  for (std::size_t more = 65470; more < 65500; ++more) {
    std::string long_ptx = ".version 9.0\n.target sm_80\n.entry k() {" + std::string(more, ' ');
    long_ptx += "_optix_}";
    CHECK(found_in(long_ptx) == "ptx 80 at 0x0 of " + hex(long_ptx.size()) + " optix; ");
    long_ptx.replace(long_ptx.find("_optix_"), 8, "}.entry\n __continuation_callable__f() { }");
    CHECK(found_in(long_ptx) == "ptx 80 at 0x0 of " + hex(long_ptx.size()) + " optix; ");
  }
  // What calls nothing of OptiX: its name alone tells.
  for (const std::string program :
       {"__raygen__", "__miss__", "__closesthit__", "__anyhit__", "__intersection__", "__exception__",
        "__direct_callable__", "__continuation_callable__"}) {
    const std::string named = ".version 6.0\n.target sm_50\n.entry " + program + "dr() { ret; }";
    CHECK(found_in(named) == "ptx 50 at 0x0 of " + hex(named.size()) + " optix; ");
    const std::string other =
        ".version 6.0\n.target sm_50\n.entry my" + program + "() { ret; } // " + program;
    CHECK(found_in(other).find("optix") == std::string::npos);
  }
}

TEST_CASE("LTO-IR and OptiX-IR are found by their head, which does not tell where they end") {
  const auto ir = [](std::uint16_t level, std::uint16_t arch, bool specific = false) {
    const std::uint32_t end = specific ? 44 : 40;
    ByteWriter writer;
    writer.u32(0x7f4e43ed).u32(0x62024101).u32(0x00070203).u16(24).u16(level).u32(end).u32(end + 4);
    writer.u32(1 | std::uint32_t(arch) << 16).u32(0x20002);
    if (specific) writer.u32(0x10020);
    return writer.u32(99).u32(0).u32(0).text("enciphered").bytes();
  };
  const auto found_at_4 = [](const Bytes& bytes) {
    return found(library(ByteWriter{}.u32(0).append(bytes).bytes()));
  };
  CHECK(found_at_4(ir(1, 800)) == "ltoir 80 at 0x4 of 0x2c (LTO-IR, which the program links when it runs); ");
  CHECK(found_at_4(ir(1, 900, true)) ==
        "ltoir 90a at 0x4 of 0x30 (LTO-IR, which the program links when it runs); ");
  CHECK(found_at_4(ir(2, 1200)) == "ltoir 120 at 0x4 of 0x2c optix; ");
  CHECK(found_at_4(ir(3, 800)) == "");
  CHECK(found_at_4(ir(1, 0)) == "");
  Bytes cut = ir(1, 800);
  cut.resize(43);
  CHECK(found_at_4(cut) == "");
  Bytes damaged = ir(1, 800);
  damaged[32] = 98;  // no end of the options
  CHECK(found_at_4(damaged) == "");
  damaged = ir(1, 800);
  damaged[12] = 25;
  CHECK(found_at_4(damaged) == "");
}

TEST_CASE("a cubin that was cut or damaged is an error; what only begins like one is chance") {
  Bytes image = cubin(80);
  const std::string size = std::to_string(image.size());
  const Bytes half(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(image.size() / 2));
  CHECK(found(library(half)) == "p(.rodata+0x0): a cubin among the data of the file needs " + size +
                                    " bytes, " + std::to_string(half.size()) + " remain\n");
  Bytes other = image;
  other[18] = 62;  // for x86-64
  CHECK(found(library(other)) == "");
  other = image;
  other[52] = 63;  // its header's size
  CHECK(found(library(other)) == "");
  CHECK(
      found_in("\x7f"
               "ELF and more of a text that is longer than the header of a file, so that it could be one") ==
      "");
}

TEST_CASE("images in a fat binary whose beginning was overwritten are an error, not data of the program") {
  Bytes fatbin = FatbinBuilder{}.cubin(80, cubin(80)).bytes();
  fatbin[0] = 0;
  CHECK(found(library(fatbin)) ==
        "p(.rodata+0x50): an image of a fat binary whose beginning was overwritten\n");
}

TEST_CASE("no fat binary is registered by an image that is data") {
  const Bytes registration = ByteWriter{}.u32(0x466243b1).u32(1).zeros(16).bytes();
  const Bytes file =
      ElfBuilder{}.section(".rodata", cubin(80)).section(".nvFatBinSegment", registration).bytes();
  CHECK(errors_of(read(file, "p")) ==
        "p(.nvFatBinSegment+0x0): registers 1 fat binary, and the file holds 0: device code was removed or "
        "overwritten\n");
}

TEST_CASE("in parts on all cores the same images are found") {
  ByteWriter data;
  std::string expected;
  const Bytes image = cubin(80);
  // Around each border of the parts of 4 MiB, within the file.
  constexpr std::size_t kPart = std::size_t{4} << 20;
  for (std::size_t border = kPart; border < 4 * kPart; border += kPart) {
    const std::size_t at = border - 0x40 - 64 - 8 - image.size() / 2;
    data.zeros(at - data.size());
    expected += "sass 80 at " + hex(at) + " of " + hex(image.size()) + "; ";
    data.append(image);
    expected += "ptx 90 at " + hex(data.size() + 1) + " of " + hex(kPtx.size()) + "; ";
    data.u8(0).text(kPtx).u8(0);
  }
  data.zeros(kPart);
  CHECK(found(ElfBuilder{}.section(".rodata", data.bytes()).bytes()) == expected);
}
