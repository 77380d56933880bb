#include "coverage/shared_stubs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/text.h"
#include "fatbin/dynamic_symbols.h"
#include "host/host_file.h"

namespace archguard {
namespace {

constexpr std::size_t kSharedNamesMost = std::size_t{1} << 21;  // of a file

bool is_for_others_perhaps(const Fatbin& fatbin) {
  return !fatbin.entries.empty() &&
         std::all_of(fatbin.entries.begin(), fatbin.entries.end(),
                     [](const FatbinEntry& entry) { return entry.arch.suffix != Suffix::none; });
}

// An instance whose host function other objects may have as well: not of what has a name within its object
// alone.
bool may_be_shared(const std::string& name) {
  return may_be_template(name) && name.find("_GLOBAL__N_") == std::string::npos &&
         name.find("_INTERNAL_") == std::string::npos;
}

}  // namespace

bool may_be_template(std::string_view name) {
  if (!starts_with(name, "_Z")) return false;
  std::size_t at = 2;
  const bool nested = name.substr(at, 1) == "N";
  if (nested) ++at;
  bool any = false;
  for (;;) {
    if (name.substr(at, 1) == "L") ++at;  // static
    std::size_t length = 0, digits = at;
    for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
      length = std::min(length * 10 + static_cast<std::size_t>(name[digits] - '0'), name.size());
    if (digits == at) break;
    if (length > name.size() - digits) return true;
    at = digits + length;
    any = true;
    if (!nested) break;
  }
  if (!any || at >= name.size()) return true;
  return nested ? name[at] != 'E' : name[at] == 'I' || name[at] == 'B';
}

SharedStubs::SharedStubs(const DeviceCode& code, const ByteSource& file) : file_(file) {
  for (const DeviceObject& object : code.objects) {
    if (!object.linked || std::none_of(object.fatbins.begin(), object.fatbins.end(), is_for_others_perhaps))
      continue;
    OfObject& of = objects_[&object];
    for (std::size_t i = 0; i < object.registrations.size(); ++i) {
      const Registration& each = object.registrations[i];
      if (each.fatbin && !each.device_linked && each.module_id.empty())
        of.order.emplace(object.fatbins[*each.fatbin].offset, i);
    }
  }
}

void SharedStubs::note(const DeviceObject& object, const FatbinCode& code) {
  const auto of = objects_.find(&object);
  if (of == objects_.end()) return;
  const auto order = of->second.order.find(code.fatbin.offset);
  if (order == of->second.order.end()) return;
  Held held{order->second, code.fatbin.offset, subject_of(object, code), {}};
  const bool may_be_for_others = is_for_others_perhaps(code.fatbin);
  for (const KernelName& kernel : code.kernels) {
    if (!may_be_shared(kernel.name) || noted_ == kSharedNamesMost) continue;
    ++noted_;
    const std::uint64_t hash = std::hash<std::string>()(kernel.name);
    of->second.holders.emplace_back(hash, of->second.all.size());
    if (may_be_for_others) held.kernels.emplace(hash, kernel.name);
  }
  of->second.sorted = false;
  of->second.all.push_back(std::move(held));
}

std::vector<SharedStubs::Finding> SharedStubs::find(const std::set<Place>& others) {
  std::vector<Finding> findings;
  for (auto& [object, of] : objects_) {
    if (!std::exchange(of.sorted, true)) std::sort(of.holders.begin(), of.holders.end());
    std::map<std::size_t, std::map<std::string, std::size_t>> launched;  // how many hold it, by the first
    std::set<std::string> names;
    for (auto begin = of.holders.begin(), end = begin; begin != of.holders.end(); begin = end) {
      std::size_t first = begin->second;
      bool asked = false;
      for (; end != of.holders.end() && end->first == begin->first; ++end) {
        if (of.all[end->second].order < of.all[first].order) first = end->second;
        asked |= others.count({object, of.all[end->second].offset}) == 0;
      }
      const auto kernel = of.all[first].kernels.find(begin->first);
      if (!asked || kernel == of.all[first].kernels.end() ||
          others.count({object, of.all[first].offset}) == 0)
        continue;
      names.insert(kernel->second);
      launched[first].emplace(kernel->second, static_cast<std::size_t>(end - begin));
    }
    if (names.empty()) continue;
    const auto stubs = count_stubs(*object, names);
    for (const auto& [first, kernels] : launched) {
      std::optional<Finding> finding;
      for (const auto& [kernel, holders] : kernels) {
        const auto found = stubs.find(kernel);
        const std::size_t count = found == stubs.end() ? 0 : found->second;
        if (count < holders && (!finding || (count != 0 && !finding->sure)))
          finding = Finding{of.all[first].subject, kernel, count != 0};
      }
      if (finding) findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

std::map<std::string, std::size_t> SharedStubs::count_stubs(const DeviceObject& object,
                                                            const std::set<std::string>& names) const {
  std::map<std::string, std::size_t> stubs;
  const PartSource source = bytes_of(object, file_);
  visit_host_file(source, {}, {}, [&](const HostObject& host) {
    if (auto found = fatbin::functions_among(source, host, names)) stubs = std::move(*found);
  });
  return stubs;
}

}  // namespace archguard
