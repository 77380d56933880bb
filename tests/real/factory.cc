// Fat binaries that NVIDIA's own libraries packed give back what was put in, and cuobjdump lists the same.
//   real_factory CACHE TOOLKIT
// Exit: 0, 1 as doctest's; 77 where NVRTC, nvFatbin or cuobjdump is missing.

#define DOCTEST_CONFIG_IMPLEMENT
#include "support/factory/factory.h"

#include <algorithm>
#include <cstdio>
#include <doctest/doctest.h>

#include "base/text.h"
#include "fatbin/fatbin.h"
#include "image/image.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/run_process/run_process.h"

using namespace archguard;
using factory::Factory;
using factory::Image;
using factory::Kind;
using factory::Packing;
using factory::Part;

namespace {

const Factory* the_factory = nullptr;
std::string the_cuobjdump;

const char* const kSource =
    "extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n"
    "extern \"C\" __global__ void empty() {}\n"
    "extern \"C\" __global__ void trap() { __trap(); }\n";

// One of every kind and suffix, in an order that no sorting would give.
const std::vector<Part> kParts{{Kind::sass, "90a"}, {Kind::ptx, "80"},    {Kind::sass, "75"},
                               {Kind::ptx, "100f"}, {Kind::sass, "100f"}, {Kind::ltoir, "90"},
                               {Kind::ptx, "90a"},  {Kind::sass, "121"}};

const std::vector<Image>& images() {
  static const std::vector<Image> all = [] {
    std::vector<Image> made;
    for (const Part& part : kParts) {
      auto image = the_factory->compile(kSource, part);
      REQUIRE_MESSAGE(image.ok(), image.error().text());
      made.push_back(std::move(*image));
    }
    return made;
  }();
  return all;
}

Bytes packed(const Packing& packing) {
  auto bytes = the_factory->pack(images(), packing);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().text());
  return std::move(*bytes);
}

std::vector<FatbinEntry> entries_of(const DeviceCode& code) {
  for (const Error& error : code.errors) FAIL_CHECK(error.text());
  REQUIRE(code.objects.size() == 1);
  REQUIRE(code.objects[0].fatbins.size() == 1);
  return code.objects[0].fatbins[0].entries;
}

std::string name_of(Compression compression) {
  return compression == Compression::none ? "none" : compression == Compression::lz4 ? "lz4" : "zstd";
}

// What archguard reads, in the words of cuobjdump's plain listing: "elf 90a", "ptx 80 compressed".
std::vector<std::string> listing(const std::vector<FatbinEntry>& entries) {
  std::vector<std::string> lines;
  for (const FatbinEntry& entry : entries) {
    const char* kind = entry.kind == EntryKind::sass  ? "elf "
                       : entry.kind == EntryKind::ptx ? "ptx "
                                                      : "nvvm ";
    lines.push_back(kind + to_string(entry.arch) +
                    (entry.compression == Compression::none ? "" : " compressed"));
  }
  return lines;
}

// cuobjdump goes by the name's end.
std::vector<std::string> cuobjdump_listing(const Bytes& bytes, const std::string& name = "t.fatbin") {
  const TemporaryFolder folder;
  const RunOutput run = run_process({the_cuobjdump, folder.file(name, std::string(ByteView(bytes).text()))});
  CHECK_MESSAGE(run.exit_code == 0, run.err);
  std::vector<std::string> lines;
  for (const std::string_view line : split(run.out, '\n')) {
    if (starts_with(line, "Fatbin ")) lines.emplace_back(line.substr(7, line.find(' ', 7) - 6));
    if (starts_with(line, "arch = sm_")) lines.back() += line.substr(10);
    if (line == "compressed") lines.back() += " compressed";
  }
  return lines;
}

// nvFatbin pads what it packs with zeros, to 8 bytes.
bool is_padded(const Bytes& got, const Bytes& put) {
  if (got.size() < put.size() || got.size() > put.size() + 8) return false;
  return std::equal(put.begin(), put.end(), got.begin()) &&
         std::all_of(got.begin() + static_cast<std::ptrdiff_t>(put.size()), got.end(),
                     [](std::uint8_t byte) { return byte == 0; });
}

// nvFatbin drops comments and blanks from PTX: what is left of it, with neither.
std::string bare_ptx(const Bytes& ptx) {
  std::string bare;
  for (const std::string_view line : split(ByteView(ptx).text(), '\n'))
    for (const char byte : line.substr(0, line.find("//")))
      if (byte != ' ' && byte != '\t' && byte != '\0') bare += byte;
  return bare;
}

void check_image(const FatbinEntry& entry, const Image& put, const ByteSource& source) {
  CAPTURE(put.part.arch);
  const auto got = inflate(entry, source);
  if (entry.obfuscated) {
    CHECK_FALSE(got.ok());
    return;
  }
  REQUIRE_MESSAGE(got.ok(), got.error().text());
  if (put.part.kind == Kind::ptx)
    CHECK(bare_ptx(*got) == bare_ptx(put.bytes));
  else
    CHECK(is_padded(*got, put.bytes));
}

}  // namespace

TEST_CASE("every kind, suffix and compression comes back as it was packed") {
  for (const char* mode : {"none", "default", "speed", "balance", "size"})
    for (const bool all : {false, true}) {
      const std::string host = all ? "-host=windows" : "-host=linux";
      CAPTURE(mode);
      CAPTURE(all);
      const Bytes fatbin = packed({mode, all, {"-cuda", host}});
      const MemorySource source(fatbin);
      const DeviceCode code = read_device_code(source, "t.fatbin");
      const std::vector<FatbinEntry> entries = entries_of(code);
      REQUIRE(entries.size() == kParts.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const FatbinEntry& entry = entries[i];
        CHECK(entry.kind == (kParts[i].kind == Kind::sass  ? EntryKind::sass
                             : kParts[i].kind == Kind::ptx ? EntryKind::ptx
                                                           : EntryKind::ltoir));
        CHECK(to_string(entry.arch) == kParts[i].arch);
        CHECK(entry.unknown == "");
        CHECK(entry.identifier == "fixture");
        CHECK(entry.ptx_isa.has_value() == (kParts[i].kind == Kind::ptx));
        check_image(entry, images()[i], source);
      }
      CHECK(listing(entries) == cuobjdump_listing(fatbin));
    }
}

TEST_CASE("the compression is the one that was asked for") {
  const auto compression_of = [](const Packing& packing, std::size_t index) {
    const Bytes fatbin = packed(packing);
    const MemorySource source(fatbin);
    return name_of(entries_of(read_device_code(source, "t.fatbin"))[index].compression);
  };
  CHECK(compression_of({"none", false, {}}, 1) == "none");
  CHECK(compression_of({"default", false, {}}, 1) == "zstd");
  CHECK(compression_of({"default", false, {}}, 0) == "none");  // plain SASS
  CHECK(compression_of({"speed", false, {}}, 1) == "lz4");
  CHECK(compression_of({"speed", true, {}}, 0) == "lz4");
  CHECK(compression_of({"size", false, {}}, 0) == "zstd");
}

TEST_CASE("the kernels are those of the source, and their states") {
  for (const Image& image : images()) {
    if (image.part.kind == Kind::ltoir) continue;
    CAPTURE(image.part.arch);
    const auto code = image.part.kind == Kind::sass ? read_cubin(image.bytes) : read_ptx(image.bytes);
    REQUIRE_MESSAGE(code.ok(), code.error().text());
    REQUIRE(code->kernels.size() == 3);
    CHECK(code->kernels[0].name == "empty");
    CHECK(code->kernels[1].name == "scale");
    CHECK(code->kernels[2].name == "trap");
    CHECK(code->kernels[0].state == KernelState::empty);
    CHECK(code->kernels[1].state == KernelState::real);
    CHECK(code->kernels[2].state == KernelState::trap);
    CHECK_FALSE(code->relocatable);
  }
}

TEST_CASE("relocatable cubins are told from linked ones") {
  for (const char* arch : {"75", "90", "120"}) {
    const auto image = the_factory->compile(kSource, {Kind::sass, arch}, {"-rdc=true"});
    REQUIRE_MESSAGE(image.ok(), image.error().text());
    const auto code = read_cubin(image->bytes);
    REQUIRE_MESSAGE(code.ok(), code.error().text());
    CHECK(code->relocatable);
  }
}

// What the unit tests build by hand must be what NVIDIA's tools take for real, or those tests prove nothing.
TEST_CASE("hand-built containers are listed by cuobjdump as archguard reads them") {
  const Bytes& cubin = images()[0].bytes;  // of sm_90a
  const std::string ptx(ByteView(images()[1].bytes).text());
  const Bytes fatbin = test::FatbinBuilder{}
                           .cubin("90a", cubin)
                           .cubin("90a", cubin)
                           .zstd()
                           .cubin(80, test::CubinBuilder{}.sm(80).kernel("gemm", test::sass::exit()).bytes())
                           .ptx("80", "9.0", ptx)
                           .options("")
                           .lz4()
                           .ptx("80", "9.0", ptx)
                           .options("--compile-only")
                           .bytes();
  const MemorySource bare(fatbin);
  CHECK(listing(entries_of(read_device_code(bare, "t.fatbin"))) ==
        std::vector<std::string>{"elf 90a", "elf 90a compressed", "elf 80", "ptx 80 compressed", "ptx 80"});
  CHECK(cuobjdump_listing(fatbin) == listing(entries_of(read_device_code(bare, "t.fatbin"))));

  const Bytes library = test::ElfBuilder{}.shared().section(".nv_fatbin", fatbin).bytes();
  const MemorySource linked(library);
  CHECK(cuobjdump_listing(library, "t.so") == listing(entries_of(read_device_code(linked, "t.so"))));
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: real_factory CACHE TOOLKIT\n");
    return 2;
  }
  const auto made = Factory::open(argv[1], argv[2]);
  if (!made) {
    std::printf("SKIPPED: %s; %s\n", made.error().text().c_str(), made.error().fix.c_str());
    return 77;
  }
  the_factory = &*made;
  the_cuobjdump = std::string(argv[1]) + "/cuobjdump-13.5/nvidia/cu13/bin/cuobjdump";
  if (run_process({the_cuobjdump, "--version"}).exit_code != 0) {
    std::printf("SKIPPED: no cuobjdump; run tests/support/fetch cuobjdump-13.5\n");
    return 77;
  }
  doctest::Context context;
  context.applyCommandLine(argc - 2, argv + 2);
  return context.run();
}
