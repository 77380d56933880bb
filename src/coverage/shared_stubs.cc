#include "coverage/shared_stubs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/text.h"
#include "fatbin/host_function_names.h"
#include "fatbin/host_names.h"

namespace archguard {
namespace {

constexpr std::size_t kSharedNamesMost = std::size_t{1} << 21;       // of a file
constexpr std::size_t kSharedNameBytesMost = std::size_t{64} << 20;  // of their names, where these are kept

bool is_for_others_perhaps(const Fatbin& fatbin) {
  return !fatbin.entries.empty() &&
         std::all_of(fatbin.entries.begin(), fatbin.entries.end(),
                     [](const FatbinEntry& entry) { return entry.arch.suffix != Suffix::none; });
}

// nvcc and compilers begin a part of a name so that is of its object alone.
bool has_name_part(const std::string& name, std::string_view beginning) {
  for (auto at = name.find(beginning); at != std::string::npos; at = name.find(beginning, at + 1))
    if (at != 0 && name[at - 1] >= '0' && name[at - 1] <= '9') return true;
  return false;
}

// A kernel whose host function other objects may have as well. Of what C names a program has one alone, but
// for `extern "C" inline`, which is not looked at.
bool may_be_shared(const std::string& name) {
  return starts_with(name, "_Z") && !has_name_part(name, "_GLOBAL__N_") && !has_name_part(name, "_INTERNAL_");
}

}  // namespace

SharedStubs::SharedStubs(const DeviceCode& code, const ByteSource& file)
    : file_(file), names_left_(kSharedNamesMost), bytes_left_(kSharedNameBytesMost) {
  for (const DeviceObject& object : code.objects) {
    if (!object.linked || std::none_of(object.fatbins.begin(), object.fatbins.end(), [](const Fatbin& each) {
          return each.packed || is_for_others_perhaps(each);
        }))
      continue;
    OfObject& of = objects_[&object];
    for (std::size_t i = 0; i < object.registrations.size(); ++i) {
      const Registration& each = object.registrations[i];
      if (each.fatbin && each.module_id.empty()) of.order.emplace(object.fatbins[*each.fatbin].offset, i);
    }
  }
}

void SharedStubs::note(const DeviceObject& object, const FatbinCode& code) {
  const auto of = objects_.find(&object);
  if (of == objects_.end()) return;
  const auto order = of->second.order.find(code.fatbin.offset);
  if (order == of->second.order.end()) return;
  const bool linked = object.registrations[order->second].device_linked;
  Held held{order->second, linked, code.fatbin.offset, subject_of(object, code), {}};
  const bool may_be_for_others = is_for_others_perhaps(code.fatbin);
  for (const KernelName& kernel : code.kernels) {
    if (!may_be_shared(kernel.name) || names_left_ == 0) continue;
    if (may_be_for_others && kernel.name.size() > bytes_left_) continue;
    --names_left_;
    const std::uint64_t hash = std::hash<std::string>()(kernel.name);
    of->second.holders.emplace_back(hash, of->second.all.size());
    if (!may_be_for_others) continue;
    bytes_left_ -= kernel.name.size();
    held.kernels.emplace(hash, kernel.name);
  }
  of->second.all.push_back(std::move(held));
}

// Those whose first registered holder may be for other devices.
void SharedStubs::gather(const DeviceObject& object, OfObject& of) const {
  of.shared.emplace();
  std::sort(of.holders.begin(), of.holders.end());
  std::set<std::string> names;
  for (auto begin = of.holders.begin(), end = begin; begin != of.holders.end(); begin = end) {
    Shared shared;
    for (; end != of.holders.end() && end->first == begin->first; ++end)
      shared.holders.push_back(end->second);
    if (shared.holders.size() == 1) continue;
    auto& holders = shared.holders;
    std::iter_swap(holders.begin(), std::min_element(holders.begin(), holders.end(), [&](auto a, auto b) {
                     return of.all[a].order < of.all[b].order;
                   }));
    // A device link registers with the last of its objects: any may be the first.
    const auto is_linked = [&](std::size_t each) { return of.all[each].linked; };
    const bool any_linked = std::any_of(holders.begin(), holders.end(), is_linked);
    const auto named = std::find_if(holders.begin(), holders.end(), [&](std::size_t each) {
      return of.all[each].kernels.count(begin->first) != 0;
    });
    if (any_linked && named != holders.end()) std::iter_swap(holders.begin(), named);
    const auto kernel = of.all[holders.front()].kernels.find(begin->first);
    if (kernel == of.all[holders.front()].kernels.end()) continue;
    shared.kernel = kernel->second;
    names.insert(shared.kernel);
    of.shared->push_back(std::move(shared));
  }
  // GCC calls static host functions as it calls others, clang _ZL4fill….
  constexpr const char* kRegisterAll = "_ZL24__sti____cudaRegisterAllv";
  std::set<std::string> asked{kRegisterAll};
  for (const std::string& name : names) {
    asked.insert(name);
    asked.insert(fatbin::static_function_name(name));
  }
  const auto counts =
      names.empty() ? std::map<std::string, std::size_t>() : count_host_functions(object, file_, asked);
  const auto count_of_function = [&](const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  };
  const std::size_t told = count_of_function(kRegisterAll);  // objects whose local symbols are there
  const auto registering =
      static_cast<std::size_t>(std::count_if(object.registrations.begin(), object.registrations.end(),
                                             [](const Registration& each) { return !each.device_linked; }));
  of.stripped = told < registering;
  const auto is_apart = [&](Shared& shared) {
    const std::string internal = fatbin::static_function_name(shared.kernel);
    const std::size_t count =
        count_of_function(shared.kernel) + (internal.empty() ? 0 : count_of_function(internal));
    shared.sure = count == 1 && !internal.empty() && !of.stripped &&
                  std::none_of(shared.holders.begin(), shared.holders.end(),
                               [&](std::size_t each) { return of.all[each].linked; });
    return count >= shared.holders.size();
  };
  of.shared->erase(std::remove_if(of.shared->begin(), of.shared->end(), is_apart), of.shared->end());
}

std::vector<SharedStubs::Finding> SharedStubs::find(const std::set<Place>& others) {
  std::vector<Finding> findings;
  for (auto& [object, of] : objects_) {
    if (!of.shared) gather(*object, of);
    const auto is_for_others = [&, object = object, &of = of](std::size_t each) {
      return others.count({object->member, of.all[each].offset}) != 0;
    };
    std::map<std::pair<std::size_t, bool>, std::vector<std::string>> launched;
    for (const Shared& each : *of.shared)
      if (is_for_others(each.holders.front()) &&
          !std::all_of(each.holders.begin(), each.holders.end(), is_for_others))
        launched[{each.holders.front(), each.sure}].push_back(each.kernel);
    for (auto& [first, kernels] : launched)
      findings.push_back({of.all[first.first].subject, std::move(kernels), first.second, of.stripped});
  }
  return findings;
}

}  // namespace archguard
