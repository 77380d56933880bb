// Small files of every format, cut at each byte and with bits of each byte turned over: whatever comes of it,
// device code that was lost is never taken for covered.
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "coverage/verify.h"
#include "support/builders/archive_builder.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"
#include "support/builders/pe_builder.h"
#include "support/builders/zip_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

Bytes real_kernel() {
  return sass::join({sass::store(), sass::exit()});
}

Bytes cubin(int sm, const std::string& kernel) {
  return CubinBuilder{}
      .sm(sm)
      .toolkit_info("13.0", "-arch sm_" + std::to_string(sm))
      .kernel(kernel, real_kernel())
      .bytes();
}

Bytes fatbin_of(const std::string& kernel) {
  return FatbinBuilder{}.cubin(80, cubin(80, kernel)).cubin(90, cubin(90, kernel)).lz4().bytes();
}

// Two fat binaries: the second one, whose loss would be the easiest to miss, holds another kernel.
Bytes fatbins() {
  Bytes bytes =
      FatbinBuilder{}.cubin(80, cubin(80, "gemm")).zstd().cubin(90, cubin(90, "gemm")).zstd().bytes();
  const Bytes second =
      FatbinBuilder{}.cubin(80, cubin(80, "scan")).cubin(90, cubin(90, "scan")).lz4().bytes();
  bytes.insert(bytes.end(), second.begin(), second.end());
  return bytes;
}

struct Sample {
  std::string name;
  Bytes bytes;
  std::vector<std::pair<std::size_t, std::size_t>> images;  // where raw images stand, which have no checksum
};

// Where the raw cubin stands: what is wrong within it is the cubin reader's matter.
std::vector<std::pair<std::size_t, std::size_t>> raw_images(const Bytes& bytes) {
  const Bytes image = cubin(80, "scan");
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), image.begin(), image.end());
    if (at == bytes.end()) return found;
    const auto begin = static_cast<std::size_t>(at - bytes.begin());
    found.emplace_back(begin, begin + image.size());
  }
}

std::vector<Sample> samples() {
  const Bytes code = fatbins();
  const Bytes object = ElfBuilder{}.relocatable().section(".nv_fatbin", code).bytes();
  std::vector<Sample> all = {
      {"fatbin", fatbin_of("scan"), {}},
      {"shared library",
       ElfBuilder{}.section(".nv_fatbin", code).at(0x78).load_segment(0, 0x78 + code.size()).bytes(),
       {}},
      {"object", object, {}},
      {"32-bit executable", ElfBuilder{}.bits32().executable().section(".nv_fatbin", code).bytes(), {}},
      // Found by its signature alone: without it there is nothing that would be missed.
      {"data of a library", ElfBuilder{}.section(".rodata", fatbin_of("scan")).bytes(), {}},
      {"DLL", PeBuilder{}.section(".nv_fatb", code).bytes(), {}},
      {"COFF object", PeBuilder{}.object().section(".nv_fatbin", code).bytes(), {}},
      {"archive", ArchiveBuilder{}.symbols().member("first.o", object).member("last.o", object).bytes(), {}},
      {"archive of BSD",
       ArchiveBuilder{}.names(ArchiveBuilder::Names::bsd).member("a_long_name.o", object).bytes(),
       {}},
      {"cubin", cubin(80, "gemm"), {}},
  };
  for (Sample& sample : all) sample.images = raw_images(sample.bytes);
  all.push_back(
      {"wheel", ZipBuilder{}.deflated("lib/a.so", all[1].bytes).stored("lib/b.a", all[7].bytes).bytes(), {}});
  return all;
}

struct Answer {
  int exit_code = 0;        // of `archguard verify`
  std::size_t kernels = 0;  // that were found covered, over all files
};

Answer ask(const Bytes& bytes, const VerifyRequest& request) {
  const MemorySource source(bytes);
  Answer answer;
  bool error = false, any_kernel = false, all_covered = true;
  visit_device_code(source, "f", [&](const DeviceCode& code, const ByteSource& file) {
    Waivers none;
    const FileResult result = verify_file(code, file, "f", request, none);
    error |= !result.errors.empty();
    any_kernel |= result.has_code;
    for (const DeviceResult& device : result.devices) {
      all_covered &= device.coverage == Coverage::covered || !result.has_code;
      answer.kernels += device.kernels.covered;
    }
  });
  answer.exit_code = error ? 2 : !all_covered ? 1 : !any_kernel ? 3 : 0;
  return answer;
}

VerifyRequest on_sm80() {
  VerifyRequest request;
  Device device;
  device.capability = ComputeCapability{8, 0};
  request.classes = classes_of({device});
  return request;
}

}  // namespace

TEST_CASE("cut at any byte, a file is an error, not covered, or holds all it held") {
  const VerifyRequest request = on_sm80();
  for (const Sample& sample : samples()) {
    const Answer whole = ask(sample.bytes, request);
    CHECK_MESSAGE((whole.exit_code == 0 && whole.kernels != 0), sample.name);
    std::size_t silent = 0;
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      const Answer cut =
          ask({sample.bytes.begin(), sample.bytes.begin() + static_cast<std::ptrdiff_t>(size)}, request);
      if (cut.exit_code == 0 && cut.kernels < whole.kernels && silent++ == 0)
        MESSAGE(sample.name << " cut to " << size);
    }
    CHECK_MESSAGE(silent == 0, sample.name);
  }
}

TEST_CASE("with bits of any byte turned over, a file is an error, not covered, or holds all it held") {
  const VerifyRequest request = on_sm80();
  for (const Sample& sample : samples()) {
    const Answer whole = ask(sample.bytes, request);
    REQUIRE_MESSAGE((whole.exit_code == 0 && whole.kernels != 0), sample.name);
    std::size_t silent = 0;
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      const bool in_image = std::any_of(sample.images.begin(), sample.images.end(), [&](const auto& image) {
        return at >= image.first && at < image.second;
      });
      if (in_image) continue;
      for (const unsigned mask : {0x01U, 0x08U, 0x80U, 0xffU}) {
        Bytes bytes = sample.bytes;
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ mask);
        const Answer flipped = ask(bytes, request);
        if (flipped.exit_code == 0 && flipped.kernels < whole.kernels && silent++ == 0)
          MESSAGE(sample.name << " byte " << at << " ^ " << mask << ": " << flipped.kernels);
      }
    }
    CHECK_MESSAGE(silent == 0, sample.name);
  }
}
