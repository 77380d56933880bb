#include "compat/torch.h"

#include <algorithm>
#include <vector>

#include "compat/rules.h"
#include "compat/tables.h"

namespace archguard {
namespace {

const std::vector<Arch>& torch_archs() {
  static const std::vector<Arch> archs = [] {
    std::vector<Arch> all;
    for (const int number : kTorchArchs) all.push_back({number, Suffix::none});
    for (const int number : kTorchArchsWithA) all.push_back({number, Suffix::a});
    return all;
  }();
  return archs;
}

bool torch_takes(Arch arch) {
  const auto& archs = torch_archs();
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

}  // namespace

std::optional<std::string> torch_name(Arch arch, bool ptx) {
  if (!torch_takes(arch)) return std::nullopt;
  return to_string(capability_of(arch)) + suffix_text(arch.suffix) + (ptx ? "+PTX" : "");
}

std::optional<Arch> nearest_in_torch(Arch arch) {
  if (torch_takes(arch)) return std::nullopt;
  return newest_sass_for(torch_archs(), capability_of(arch));
}

std::string expand_torch_families(std::string list) {
  for (const auto& [name, archs] : kTorchFamilies)
    for (std::size_t at = 0; (at = list.find(name, at)) != std::string::npos; at += archs.size())
      list.replace(at, name.size(), archs);
  return list;
}

std::optional<Arch> nearest_ptx_in_torch(Arch arch) {
  return newest_ptx_for(torch_archs(), capability_of(arch));
}

}  // namespace archguard
