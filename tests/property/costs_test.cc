// What kernels cost adds up: over generated libraries, each byte of each image counts once, by kernel and by
// arch, and all of them together with what stands around the images are the fat binaries of the file.
#include <doctest/doctest.h>
#include <numeric>
#include <random>
#include <string>

#include "coverage/kernel_costs.h"
#include "fatbin/fatbin.h"
#include "support/builders/cubin_builder.h"
#include "support/builders/elf_builder.h"
#include "support/builders/fatbin_builder.h"

using namespace archguard;
using namespace archguard::test;

namespace {

constexpr unsigned kSeed = 20261122;
constexpr int kCases = 400;

class Generator {
 public:
  Bytes library() {
    Bytes section;
    for (std::size_t fatbins = 1 + roll(3); fatbins != 0; --fatbins) {
      const Bytes bytes = fatbin();
      section.insert(section.end(), bytes.begin(), bytes.end());
    }
    return ElfBuilder{}.shared().section(".nv_fatbin", section).bytes();
  }

  std::size_t roll(std::size_t sides) {
    return std::uniform_int_distribution<std::size_t>(0, sides - 1)(engine_);
  }

 private:
  Bytes fatbin() {
    FatbinBuilder builder;
    for (std::size_t images = 1 + roll(4); images != 0; --images) {
      const int sm = roll(2) == 0 ? 80 : 90;
      const std::size_t kind = roll(5);
      if (kind == 0)
        builder.ltoir(std::to_string(sm), raw_ltoir(std::to_string(sm), 1 + roll(200)));
      else if (kind == 1)
        builder.ptx(std::to_string(sm), "8.4", ptx(sm));
      else
        builder.cubin(sm, cubin(sm));
      const std::size_t packing = roll(4);
      if (kind != 0 && packing == 0) builder.zstd();
      if (kind != 0 && packing == 1) builder.lz4();
    }
    return builder.bytes();
  }

  Bytes cubin(int sm) {
    CubinBuilder builder;
    builder.sm(sm);
    for (std::size_t kernels = roll(4); kernels != 0; --kernels) {
      std::vector<Bytes> code(roll(20), sass::store());
      code.push_back(sass::exit());
      Bytes all;
      for (const Bytes& each : code) all.insert(all.end(), each.begin(), each.end());
      builder.kernel("k" + std::to_string(kernels), all);
    }
    return builder.bytes();
  }

  std::string ptx(int sm) {
    std::string text = ".version 8.4\n.target sm_" + std::to_string(sm) + "\n.address_size 64\n";
    for (std::size_t kernels = roll(4); kernels != 0; --kernels) {
      text += ".visible .entry k" + std::to_string(kernels) + "()\n{\n";
      for (std::size_t lines = roll(20); lines != 0; --lines) text += " st.global.u32 [%rd1], 0;\n";
      text += " ret;\n}\n";
    }
    return text;
  }

  std::mt19937 engine_{kSeed};
};

ArchSize operator+(ArchSize sum, const ArchSize& other) {
  sum.stored += other.stored;
  sum.uncompressed += other.uncompressed;
  return sum;
}

ArchSize sum_of(const ArchSizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), ArchSize{},
                         [](const ArchSize& sum, const auto& size) { return sum + size.second; });
}

bool is_same(const ArchSize& a, const ArchSize& b) {
  return a.stored == b.stored && a.uncompressed == b.uncompressed;
}

}  // namespace

TEST_CASE("what kernels cost adds up to what the file holds") {
  Generator generator;
  for (int number = 0; number < kCases; ++number) {
    CAPTURE(number);
    const Bytes file = generator.library();
    const MemorySource source(file);
    const DeviceCode device_code = read_device_code(source, "f.so");
    FatbinCodeReader codes(device_code, source);
    KernelCosts costs;
    std::uint64_t fatbins = 0;
    ArchSizes listed;  // as the headers have it
    for (const DeviceObject& object : device_code.objects)
      for (std::size_t i = 0; i < object.fatbins.size(); ++i) {
        const FatbinCode code = codes.next();
        REQUIRE(code.errors.empty());
        for (const FatbinEntry& entry : code.fatbin.entries) listed[{entry.kind, entry.arch}].add(entry);
        fatbins += code.fatbin.size;
        costs.add(code);
      }
    const std::size_t most = generator.roll(5);
    const KernelCosts::Ranking all = costs.ranking({}), top = costs.ranking(most);
    CHECK(is_same(all.total, sum_of(listed)));
    CHECK(is_same(sum_of(all.by_arch), all.total));
    CHECK(all.total.stored + all.envelopes == fatbins);
    for (const auto& [image, size] : listed) {
      CHECK(is_same(all.by_arch.at(image), size));
      CHECK(all.by_arch.at(image).images == size.images);
    }
    for (const KernelCosts::Ranking* ranking : {&all, &top}) {
      ArchSize sum = ranking->others + ranking->shared + ranking->unnamed;
      for (const KernelCosts::Cost& cost : ranking->largest) {
        CHECK(is_same(sum_of(cost.by_arch), cost.total));
        sum = sum + cost.total;
      }
      CHECK(is_same(sum, ranking->total));
      for (std::size_t i = 1; i < ranking->largest.size(); ++i)
        CHECK(ranking->largest[i - 1].total.stored >= ranking->largest[i].total.stored);
    }
    CHECK(top.largest.size() == std::min<std::size_t>(most, top.kernels));
    CHECK(top.kernels == all.largest.size());
  }
}
