#include "coverage/bare_images.h"

#include <algorithm>

#include "coverage/choices.h"
#include "coverage/device_refusal.h"
#include "coverage/judge_fatbin.h"

namespace archguard {
namespace {

// All that a verdict depends on, but for names.
std::string kind_text(const Image& image, const FatbinCode& code) {
  const auto toolkit = toolkit_of(image);
  std::string text = image_name(image.entry) + "|" + std::to_string(static_cast<int>(image.entry.kind)) +
                     "|" + std::to_string(image.entry.kind_code);
  for (const Arch arch : image.entry.or_archs) text += "|" + to_string(arch);
  text += "|" + (image.entry.ptx_isa ? to_string(*image.entry.ptx_isa) : std::string());
  text += "|" + (toolkit ? to_string(*toolkit) : std::string());
  text += "|" + std::to_string(image.code ? image.code->cubin_abi : 0);
  text += "|" + std::to_string(image.code ? image.code->parameters : 0);
  text += image.code && image.code->newest_call ? "|calls " + image.code->newest_call->name : "";
  text += image.code && image.code->by_gcc ? "|gcc" : "";
  text += image.entry.own_arch ? "|own" : "";
  text += wants_device_sync(image) ? "|sync" : "";
  if (image.code && image.code->refused) {
    const PtxRefusal& refused = *image.code->refused;
    text += "|refused " + refused.reason + "|" + refused.mend + "|" +
            (refused.taken_from ? to_string(*refused.taken_from) : std::string()) +
            (refused.in_doubt ? "|doubt" : "") + (refused.not_refused ? "|passes" : "");
  }
  text += code.fatbin.offload ? "|offload" : "";
  text += !image.code ? "|none" : image.code->relocatable ? "|relocatable" : "|";
  text += image.code && image.code->lacks_variables_alone ? "|variables" : "";
  return text + "|" + image.unknown;
}

// Are its kernels known, and none of them does anything?
bool does_nothing(const FatbinCode& code) {
  return !code.kernels.empty() && std::all_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.unknown.empty() && image.code &&
           std::all_of(image.code->kernels.begin(), image.code->kernels.end(),
                       [](const Kernel& kernel) { return is_hollow(kernel.state); });
  });
}

}  // namespace

bool asks_as_embedded(const FatbinCode& code) {
  if (code.fatbin.relocatable) return false;
  return std::any_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return !image.entry.optix && (!image.unknown.empty() || (image.code && !image.code->kernels.empty()));
  });
}

bool BareImages::add(const std::string& place, const FatbinCode& code, bool compiles_code) {
  if (is_of_gcc(code)) {
    gcc_.add(place, code);
  } else if (asks_as_embedded(code)) {
    if (compiles_code && does_nothing(code)) {
      idle_.push_back({place, code});
      return true;
    }
    if (asks_for_image(code)) add_items(place, code);
  } else if (!code.fatbin.relocatable) {
    for (const Image& image : code.images)
      if (image.code && image.code->functions) functions_.of(image, code);
  }
  return false;
}

void BareImages::add_items(const std::string& place, const FatbinCode& code) {
  for (const Image& image : code.images) {
    const std::size_t item = items_.size();
    const bool named = image.code && !image.code->kernels.empty();
    items_.push_back(
        {kinds_.of(image, code), place, named ? image.code->kernels.front().name : std::string()});
    above_.push_back(item);
    if (!named) continue;
    for (const auto& each : image.code->kernels) {
      Kernel& kernel = kernels_[each.name];
      if (!kernel.items.empty()) above_[root_of(item)] = root_of(kernel.items.front());
      kernel.items.push_back(item);
    }
  }
}

// Those that share a kernel with what was added, or with one of those.
void BareImages::add_idle() {
  std::map<std::string, std::vector<std::size_t>> holders;
  for (std::size_t i = 0; i < idle_.size(); ++i)
    for (const KernelName& kernel : idle_[i].code.kernels) holders[kernel.name].push_back(i);
  std::vector<std::string> open;
  for (const auto& each : kernels_) open.push_back(each.first);
  std::vector<bool> added(idle_.size());
  while (!open.empty()) {
    const auto found = holders.find(open.back());
    open.pop_back();
    if (found == holders.end()) continue;
    const std::vector<std::size_t> holding = std::move(found->second);
    holders.erase(found);
    for (const std::size_t i : holding) {
      if (added[i]) continue;
      added[i] = true;
      add_items(idle_[i].place, idle_[i].code);
      for (const KernelName& kernel : idle_[i].code.kernels) open.push_back(kernel.name);
    }
  }
  idle_.clear();
}

void BareImages::finish() {
  if (const auto joined = gcc_.join()) add_items(joined->place, joined->code);
  add_idle();
  for (std::size_t item = 0; item < items_.size(); ++item) modules_[root_of(item)].push_back(item);
  for (auto& [name, kernel] : kernels_) {
    kernel.module = root_of(kernel.items.front());
    kernel.suffixed = kernel.perhaps_suffixed = true;
    kernel.told = archs_told_by(name);
    for (const std::size_t item : kernel.items) {
      const FatbinEntry& entry = kinds_.all[items_[item].kind].images.front().entry;
      kernel.suffixed &= entry.arch.suffix != Suffix::none && entry.or_archs.empty();
      kernel.perhaps_suffixed &= entry.arch.suffix != Suffix::none || !entry.or_archs.empty();
      if (std::none_of(kernel.told.begin(), kernel.told.end(),
                       [&](const ToldArchs& told) { return told.has(entry.arch); }))
        kernel.told.clear();
    }
  }
}

std::size_t BareImages::root_of(std::size_t item) {
  while (above_[item] != item) item = above_[item] = above_[above_[item]];
  return item;
}

std::size_t BareImages::Kinds::of(const Image& image, const FatbinCode& code) {
  const auto [known, is_new] = by_text.try_emplace(kind_text(image, code), all.size());
  if (!is_new) return known->second;
  FatbinCode one = code;
  one.images = {image};
  all.emplace_back();
  add_choice(all.back(), one);
  // That it is a cubin by itself; whether a text is one, embedded.cc decides of all that fail.
  if (image.entry.kind == EntryKind::sass) all.back().fatbin.entries = {image.entry};
  return known->second;
}

}  // namespace archguard
