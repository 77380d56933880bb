#include "report/kernel_costs_text.h"

#include <fmt/format.h>
#include <optional>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "image/demangle.h"
#include "report/names.h"

namespace archguard {
namespace {

std::string archs_text(const ArchSizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [image, size] : sizes) {
    parts.push_back(image_name(image.first, image.second) + " " + human_size(size.stored));
  }
  return join(parts, ", ");
}

void write_bytes_of(const ArchSize& size, JsonWriter& json) {
  json.number("size", size.stored);
  json.number("uncompressed_size", size.uncompressed);
}

void write_bytes_of(std::string_view key, const ArchSize& size, JsonWriter& json) {
  json.begin_object(key);
  write_bytes_of(size, json);
  json.end();
}

}  // namespace

std::string image_name(EntryKind kind, Arch arch) {
  FatbinEntry entry;
  entry.kind = kind;
  entry.arch = arch;
  return image_name(entry);
}

void write_sizes(const ArchSizes& sizes, JsonWriter& json) {
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
    write_bytes_of(size, json);
    json.end();
  }
  if (kind) json.end();
  json.end();
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
  write_bytes_of(ranking.total, json);
  json.number("images", ranking.total.images);
  json.number("kernels", ranking.kernels);
  json.number("headers", ranking.envelopes);
  write_sizes(ranking.by_arch, json);
  json.begin_list("largest", JsonLayout::packed_lines);
  for (const KernelCosts::Cost& cost : ranking.largest) {
    json.begin_object(JsonLayout::packed);
    json.text("name", cost.name);
    json.number("images", cost.total.images);
    write_bytes_of(cost.total, json);
    write_sizes(cost.by_arch, json);
    json.end();
  }
  json.end();
  write_bytes_of("others", ranking.others, json);
  write_bytes_of("shared", ranking.shared, json);
  write_bytes_of("without_kernels", ranking.unnamed, json);
  json.end();
}

}  // namespace archguard
