#include "coverage/kernel_costs.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace archguard {
namespace {

// `whole` × `part` / `of`, rounded down; `part` is at most `of`, which is not 0.
std::uint64_t share_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  if (part == of) return whole;
  if (part == 0 || whole <= UINT64_MAX / part) return whole * part / of;
  return std::min(
      whole, static_cast<std::uint64_t>(static_cast<long double>(whole) * static_cast<long double>(part) /
                                        static_cast<long double>(of)));
}

void add_to(ArchSize& size, std::uint64_t images, std::uint64_t stored, std::uint64_t uncompressed) {
  size.images += images;
  size.stored += stored;
  size.uncompressed += uncompressed;
}

bool is_larger(const ArchSize& a, const std::string& a_name, const ArchSize& b, const std::string& b_name) {
  return std::tie(b.stored, b.uncompressed, a_name) < std::tie(a.stored, a.uncompressed, b_name);
}

}  // namespace

void KernelCosts::add(const FatbinCode& code) {
  std::uint64_t images = 0;
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    const Image& image = code.images[i];
    const FatbinEntry& entry = code.fatbin.entries[i];  // as the file has it, and as it is listed by arch
    images += entry.stored_size;
    total_.add(entry);
    by_arch_[{entry.kind, entry.arch}].add(entry);
    std::uint64_t stored = entry.stored_size, uncompressed = entry.uncompressed_size;
    if (!image.code || image.code->kernels.empty()) {
      add_to(unnamed_, 1, stored, uncompressed);
      continue;
    }
    for (const Kernel& kernel : image.code->kernels) {
      const std::uint64_t own = std::min(kernel.own_size, uncompressed);
      const std::uint64_t held =
          own == 0 ? 0 : std::min(stored, share_of(entry.stored_size, own, entry.uncompressed_size));
      add_to(kernels_[kernel.name][{entry.kind, entry.arch}], 1, held, own);
      stored -= held;
      uncompressed -= own;
    }
    add_to(shared_, 1, stored, uncompressed);
  }
  envelopes_ += code.fatbin.size - std::min(code.fatbin.size, images);
}

KernelCosts::Ranking KernelCosts::ranking(std::optional<std::size_t> most) const {
  Ranking ranking;
  for (const auto& [name, archs] : kernels_) {
    Cost cost{name, {}, archs};
    for (const auto& [image, size] : archs) cost.total.add(size);
    ranking.largest.push_back(std::move(cost));
  }
  ranking.kernels = ranking.largest.size();
  std::sort(ranking.largest.begin(), ranking.largest.end(),
            [](const Cost& a, const Cost& b) { return is_larger(a.total, a.name, b.total, b.name); });
  if (most && *most < ranking.largest.size()) {
    for (std::size_t i = *most; i < ranking.largest.size(); ++i) ranking.others.add(ranking.largest[i].total);
    ranking.largest.resize(*most);
  }
  ranking.shared = shared_;
  ranking.unnamed = unnamed_;
  ranking.total = total_;
  ranking.by_arch = by_arch_;
  ranking.envelopes = envelopes_;
  return ranking;
}

CodeSizes KernelCosts::sizes() const {
  CodeSizes sizes;
  for (const auto& [image, size] : by_arch_) sizes.archs.push_back({image.first, image.second, size});
  std::vector<std::pair<ArchSize, const std::string*>> all;
  all.reserve(kernels_.size());
  for (const auto& [name, archs] : kernels_) {
    all.push_back({{}, &name});
    for (const auto& [image, size] : archs) all.back().first.add(size);
  }
  const std::size_t kept = std::min(kLargestKept, all.size());
  std::partial_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
      [](const auto& a, const auto& b) { return is_larger(a.first, *a.second, b.first, *b.second); });
  for (std::size_t i = 0; i < kept; ++i) sizes.largest.push_back({*all[i].second, all[i].first});
  sizes.kernels = kernels_.size();
  return sizes;
}

bool is_larger(const CodeSizes::OfKernel& a, const CodeSizes::OfKernel& b) {
  return is_larger(a.size, a.name, b.size, b.name);
}

}  // namespace archguard
