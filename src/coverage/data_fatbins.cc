#include "coverage/data_fatbins.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "fatbin/format.h"
#include "fatbin/nvvm_image.h"

namespace archguard {
namespace {

constexpr std::size_t kAlternativesMost = 1 << 14;  // of one object; cuFFT 13.0 has 11,255

// The names of all that it asks for.
std::string asked_of(const FatbinCode& code) {
  std::string names;
  for (const KernelName& kernel : code.kernels) names += kernel.name + '\0';
  names += '\0';
  for (const std::string& variable : code.variables) names += variable + '\0';
  return names;
}

bool is_whole(const Image& image) {
  return image.unknown.empty() && image.entry.or_archs.empty() && image.code && !image.code->relocatable &&
         (image.entry.kind == EntryKind::sass || image.entry.kind == EntryKind::ptx);
}

bool share_no_arch(const std::vector<FatbinCode>& all, const std::vector<std::size_t>& group) {
  std::set<std::tuple<EntryKind, int, Suffix>> seen;
  for (const std::size_t index : group) {
    std::set<std::tuple<EntryKind, int, Suffix>> own;
    for (const Image& image : all[index].images)
      own.insert({image.entry.kind, image.entry.arch.number, image.entry.arch.suffix});
    for (const auto& each : own)
      if (!seen.insert(each).second) return false;
  }
  return true;
}

void join_into(FatbinCode& code, FatbinCode more) {
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(code.fatbin.entries, more.fatbin.entries);
  append(code.images, more.images);
  append(code.errors, more.errors);
  append(code.warnings, more.warnings);
  for (std::size_t i = 0; i < code.kernels.size(); ++i) code.kernels[i].real |= more.kernels[i].real;
}

}  // namespace

DataFatbins::DataFatbins(const DeviceObject& object)
    : object_(object), registered_(object.fatbins.size(), false) {
  for (const Registration& each : object.registrations) {
    if (each.fatbin && *each.fatbin < registered_.size()) registered_[*each.fatbin] = true;
    all_known_ = all_known_ && (each.fatbin || each.device_linked);  // an empty link has none
  }
  for (std::size_t i = 0; i < registered_.size(); ++i) any_held_ |= !object.fatbins[i].bare && holds(i);
}

bool DataFatbins::holds(std::size_t index) const {
  const Fatbin& each = object_.fatbins[index];
  const bool in_object = !object_.linked && !each.bare && !each.relocatable && !each.offload &&
                         !each.section.empty() && !fatbin::is_linked_section(each.section);
  const bool is_file = object_.linked && each.section.empty() && each.offset == 0;  // a `.fatbin`
  return (each.in_data || in_object || is_file) && !registered_[index];
}

bool DataFatbins::may_be_alternative(std::size_t index, const FatbinCode& code) const {
  const bool bare = any_held_ && code.fatbin.bare && !code.fatbin.offload;
  return object_.has_sections && all_known_ && (bare || holds(index)) && !code.fatbin.section.empty() &&
         asks_for_image(code) && code.errors.empty() &&
         std::all_of(code.images.begin(), code.images.end(), is_whole);
}

bool DataAlternatives::is_full() const {
  return all_.size() >= kAlternativesMost;
}

void DataAlternatives::add(FatbinCode code) {
  all_.push_back(std::move(code));
}

std::vector<FatbinCode> DataAlternatives::take() {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < all_.size(); ++i) groups[asked_of(all_[i])].push_back(i);
  std::vector<bool> joined(all_.size(), false);
  for (const auto& [asked, group] : groups) {
    const auto first =
        std::find_if(group.begin(), group.end(), [&](std::size_t each) { return !all_[each].fatbin.bare; });
    if (first == group.end() || !share_no_arch(all_, group)) continue;
    for (const std::size_t each : group) {
      if (each == *first) continue;
      join_into(all_[*first], std::move(all_[each]));
      joined[each] = true;
    }
  }
  std::vector<FatbinCode> taken;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (!joined[i]) taken.push_back(std::move(all_[i]));
  all_.clear();
  return taken;
}

bool is_ltoir_alone(const FatbinCode& code) {
  return !code.images.empty() && std::all_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.entry.kind == EntryKind::ltoir && !image.entry.optix && image.unknown.empty();
  });
}

FatbinCode as_bare_ltoir(FatbinCode code) {
  code.fatbin.bare = true;
  for (Image& image : code.images) image.entry.unknown = image.unknown = fatbin::kLinkedByProgram;
  return code;
}

}  // namespace archguard
