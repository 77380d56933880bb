#include "report/kernel_costs.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "image/demangle.h"
#include "report/names.h"

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

void add_to(ArchSize& size, const ArchSize& other) {
  add_to(size, other.images, other.stored, other.uncompressed);
}

bool is_before(const KernelCosts::Cost& a, const KernelCosts::Cost& b) {
  return std::tie(b.total.stored, b.total.uncompressed, a.name) <
         std::tie(a.total.stored, a.total.uncompressed, b.name);
}

std::string archs_text(const ArchSizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [image, size] : sizes) {
    FatbinEntry entry;
    entry.kind = image.first;
    entry.arch = image.second;
    parts.push_back(image_name(entry) + " " + human_size(size.stored));
  }
  return join(parts, ", ");
}

void write_sizes(const ArchSize& size, JsonWriter& json) {
  json.number("size", size.stored);
  json.number("uncompressed_size", size.uncompressed);
}

void write_sizes(std::string_view key, const ArchSize& size, JsonWriter& json) {
  json.begin_object(key);
  write_sizes(size, json);
  json.end();
}

// Like "sizes" of a file, with the kinds that there are alone.
void write_by_arch(const ArchSizes& sizes, JsonWriter& json) {
  json.begin_object("sizes");
  std::optional<EntryKind> kind;
  for (const auto& [image, size] : sizes) {
    if (kind != image.first) {
      if (kind) json.end();
      json.begin_object(name_of(image.first));
      kind = image.first;
    }
    json.begin_object(to_string(image.second));
    json.number("images", size.images);
    write_sizes(size, json);
    json.end();
  }
  if (kind) json.end();
  json.end();
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
    for (const auto& [image, size] : archs) add_to(cost.total, size);
    ranking.largest.push_back(std::move(cost));
  }
  ranking.kernels = ranking.largest.size();
  std::sort(ranking.largest.begin(), ranking.largest.end(), is_before);
  if (most && *most < ranking.largest.size()) {
    for (std::size_t i = *most; i < ranking.largest.size(); ++i)
      add_to(ranking.others, ranking.largest[i].total);
    ranking.largest.resize(*most);
  }
  ranking.shared = shared_;
  ranking.unnamed = unnamed_;
  ranking.total = total_;
  ranking.by_arch = by_arch_;
  ranking.envelopes = envelopes_;
  return ranking;
}

std::string text_of(const KernelCosts::Ranking& ranking) {
  const auto row = [](const ArchSize& size, const std::string& what) {
    return fmt::format("  {:>10} {:>10}  {}\n", human_size(size.stored), human_size(size.uncompressed), what);
  };
  std::string text = fmt::format("  {:>10} {:>10}  {}\n", "stored", "inflated", "kernel");
  for (const KernelCosts::Cost& cost : ranking.largest) {
    text += row(cost.total, printable(demangle(cost.name)));
    text += fmt::format("  {:>21}  {}\n", "", printable(archs_text(cost.by_arch)));
  }
  const std::uint64_t left = ranking.kernels - ranking.largest.size();
  if (left != 0) text += row(ranking.others, count_of(left, "other kernel"));
  if (ranking.shared.images != 0) text += row(ranking.shared, "shared by the kernels of an image");
  if (ranking.unnamed.images != 0)
    text += row(ranking.unnamed, count_of(ranking.unnamed.images, "image") + " of which no kernel is known");
  text += row(ranking.total, count_of(ranking.total.images, "image") + " in all");
  if (ranking.envelopes != 0)
    text += fmt::format("  {:>10} {:>10}  headers of the images and their fat binaries\n",
                        human_size(ranking.envelopes), "");
  return text;
}

void write_costs(const KernelCosts::Ranking& ranking, JsonWriter& json) {
  json.begin_object("costs");
  write_sizes(ranking.total, json);
  json.number("images", ranking.total.images);
  json.number("kernels", ranking.kernels);
  json.number("headers", ranking.envelopes);
  write_by_arch(ranking.by_arch, json);
  json.begin_list("largest", JsonLayout::packed_lines);
  for (const KernelCosts::Cost& cost : ranking.largest) {
    json.begin_object(JsonLayout::packed);
    json.text("name", cost.name);
    json.number("images", cost.total.images);
    write_sizes(cost.total, json);
    write_by_arch(cost.by_arch, json);
    json.end();
  }
  json.end();
  write_sizes("others", ranking.others, json);
  write_sizes("shared", ranking.shared, json);
  write_sizes("without_kernels", ranking.unnamed, json);
  json.end();
}

}  // namespace archguard
