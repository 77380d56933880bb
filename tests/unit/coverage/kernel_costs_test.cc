#include "coverage/kernel_costs.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

Kernel kernel(const char* name, std::uint64_t own) {
  return {name, KernelState::real, 0, own};
}

void add_image(FatbinCode& code, EntryKind kind, int arch, std::uint64_t stored, std::uint64_t inflated,
               std::vector<Kernel> kernels) {
  FatbinEntry entry;
  entry.kind = kind;
  entry.arch = {arch, Suffix::none};
  entry.stored_size = stored;
  entry.uncompressed_size = inflated;
  Image image{entry, ImageKernels{}, {}};
  image.code->kernels = std::move(kernels);
  code.fatbin.entries.push_back(entry);
  code.images.push_back(std::move(image));
  code.fatbin.size += stored + 64;
}

// Every byte counts once.
void check_sums(const KernelCosts::Ranking& ranking) {
  ArchSize sum = ranking.others;
  for (const auto& cost : ranking.largest) {
    sum.stored += cost.total.stored;
    sum.uncompressed += cost.total.uncompressed;
  }
  CHECK(sum.stored + ranking.shared.stored + ranking.unnamed.stored == ranking.total.stored);
  CHECK(sum.uncompressed + ranking.shared.uncompressed + ranking.unnamed.uncompressed ==
        ranking.total.uncompressed);
}

}  // namespace

TEST_CASE("each kernel costs its share of what the file holds of its images") {
  FatbinCode code;
  add_image(code, EntryKind::sass, 80, 1000, 4000, {kernel("a", 2000), kernel("b", 1000)});
  add_image(code, EntryKind::ptx, 90, 100, 300, {kernel("b", 100)});
  add_image(code, EntryKind::ltoir, 90, 70, 70, {});
  KernelCosts costs;
  costs.add(code);
  const auto all = costs.ranking({});
  check_sums(all);
  REQUIRE(all.kernels == 2);
  CHECK(all.largest[0].name == "a");
  CHECK(all.largest[0].total.stored == 500);
  CHECK(all.largest[0].total.uncompressed == 2000);
  CHECK(all.largest[1].total.stored == 283);
  CHECK(all.largest[1].by_arch.size() == 2);
  CHECK(all.unnamed.stored == 70);
  CHECK(all.total.stored == 1170);
  CHECK(all.envelopes == 192);
  const auto top = costs.ranking(1);
  check_sums(top);
  CHECK(top.largest.size() == 1);
  CHECK(top.others.stored == 283);
}

TEST_CASE("kernels that say they are larger than their image cost no more than it") {
  FatbinCode code;
  add_image(code, EntryKind::sass, 80, 10, 20, {kernel("a", 15), kernel("b", 15), kernel("c", 0)});
  add_image(code, EntryKind::sass, 90, 0, 0, {kernel("a", 0)});
  KernelCosts costs;
  costs.add(code);
  const auto all = costs.ranking({});
  check_sums(all);
  CHECK(all.largest[0].total.uncompressed + all.largest[1].total.uncompressed <= 20);
}
