#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "compat/rules.h"
#include "coverage/device_link.h"
#include "coverage/fit.h"
#include "image/symbol_name.h"

// What of a device link's objects nvlink did not read, since `ld -r` put several into one; and what is not
// read here: LTO-IR.
namespace archguard {

const Image* image_linked_for(const FatbinCode& code, Arch linked) {
  for (const EntryKind kind : {EntryKind::sass, EntryKind::ptx}) {
    const Image* taken = nullptr;
    for (const Image& image : code.images) {
      if (image.entry.kind != kind || fit_of(image.entry, capability_of(linked)) != Fit::yes) continue;
      if (!image.code) return nullptr;
      if (taken == nullptr || is_taken_before(image.entry, taken->entry, capability_of(linked)))
        taken = &image;
    }
    if (taken != nullptr) return taken;
  }
  return nullptr;
}

void DeviceLinks::note_offered(std::size_t index, std::size_t part, const DeviceObject& object,
                               const FatbinCode& code) {
  Link& link = links_[index];
  if (link.lists == nullptr) return;
  bool any = false;
  for (const Arch arch : link.archs) {
    const Image* image = image_linked_for(code, arch);
    if (image == nullptr) continue;
    for (const Kernel& kernel : image->code->kernels)
      if (!link.lists->does_name(kernel.name)) link.unnamed.emplace(arch, kernel.name);
    if (link.obeyed_lists == nullptr) continue;
    const auto offer = [&](const std::string& name, bool kernel) {
      if (!link.obeyed_lists->does_name(name)) return;
      const auto [found, is_new] = link.offered.try_emplace({arch, name}, Link::Offer{part, kernel, true});
      if (is_new)
        any = true;
      else
        found->second.alone = false;
    };
    for (const Kernel& kernel : image->code->kernels) offer(kernel.name, true);
    for (const DeviceVariable& each : image->code->variables)
      if (std::binary_search(code.variables.begin(), code.variables.end(), each.name))
        offer(each.name, false);
  }
  if (!any) return;
  const LinkJudge::Subject subject = subject_of(object, code);
  link.offering[part] = {subject.place, subject.where, subject.found, {}, {}, Unread::object};
}

// nvlink reads the first fat binary of `__nv_relfatbin` in an object, and says nothing of those behind it,
// which `ld -r` and `gcc -r` put there (seen, 13.0 and 13.5). Everything that host code names and that it
// reads is in what it makes; so where nothing is that an object alone has, that was not read. Where something
// is, nvlink was told by `--kernels-used` or `--variables-used` what to keep.
std::vector<DeviceLinks::LeftOut> DeviceLinks::unread(std::size_t index, Arch linked) const {
  const Link& link = links_[index];
  const auto& results = code_.links[index].linked;
  const auto is_linked_for = [&](const FatbinRef& ref) {
    const auto& entries = fatbin(ref).entries;
    return std::any_of(entries.begin(), entries.end(), [&](const FatbinEntry& entry) {
      return entry.kind == EntryKind::sass && entry.arch == linked;
    });
  };
  if (link.obeyed_lists == nullptr || !std::all_of(results.begin(), results.end(), is_linked_for)) return {};
  std::map<std::size_t, KernelGaps> missing;  // by part
  std::set<std::size_t> read;                 // parts
  for (auto each = link.offered.lower_bound({linked, {}});
       each != link.offered.end() && each->first.first == linked; ++each) {
    const std::string& name = each->first.second;
    const Link::Offer& offer = each->second;
    if (names_of_all_links_.count(name) != 0) {
      if (offer.alone) read.insert(offer.part);
    } else if (link.obeyed_lists->does_name(name)) {
      KernelGaps& gaps = missing[offer.part];
      (offer.kernel ? gaps.missing : gaps.variables).push_back(name);
    }
  }
  std::vector<LeftOut> all;
  for (auto& [part, names] : missing) {
    LeftOut left_out = link.offering.at(part);
    left_out.names = std::move(names);
    if (read.count(part) != 0) left_out.unread = Unread::unused;
    all.push_back(std::move(left_out));
  }
  if (auto left_out = unread_ltoir(index, linked)) all.push_back(std::move(*left_out));
  return all;
}

// Which kernels an object's LTO-IR has is not read. Of those that host code registers and names, none is left
// out of what nvlink reads. The lists name kernels by beginnings, which others may have, too: so it is told
// where all device code of the file is of this link.
std::optional<DeviceLinks::LeftOut> DeviceLinks::unread_ltoir(std::size_t index, Arch linked) const {
  const Link& link = links_[index];
  if (!link.holds_ltoir || !link.first_linked || links_.size() != 1) return std::nullopt;
  for (std::size_t object = 0; object < code_.objects.size(); ++object)
    for (std::size_t i = 0; i < code_.objects[object].fatbins.size(); ++i)
      if (role(object, i) == nullptr) return std::nullopt;
  LeftOut left_out = *link.first_linked;
  for (const std::string& name : link.obeyed_lists->registered)
    if (names_of_all_links_.count(name) == 0 && link.offered.count({linked, name}) == 0 &&
        link.of_runtime.count(name) == 0)
      left_out.names.missing.push_back(name);
  if (left_out.names.missing.empty()) return std::nullopt;
  return left_out;
}

// Of kernels the linker leaves out what nothing needs; so what it put in, a program may miss.
std::optional<LinkJudge::Gap> LinkJudge::gap_of_ltoir(const Outcome& outcome) const {
  if (!links_.holds_ltoir(outcome.link)) return std::nullopt;
  const Answer& objects = objects_[outcome.link];
  const auto is_there = [&](const std::string& name) {
    return objects.names.count(std::string(without_file_mark(name))) != 0 ||
           links_.may_be_of_runtime(outcome.link, name);
  };
  Gap gap{outcome.subject, objects.image, {}, outcome.link, {}};
  gap.only_of_ltoir = true;
  std::remove_copy_if(outcome.kernels_of_ltoir.begin(), outcome.kernels_of_ltoir.end(),
                      std::back_inserter(gap.names.missing), is_there);
  std::remove_copy_if(outcome.variables_of_ltoir.begin(), outcome.variables_of_ltoir.end(),
                      std::back_inserter(gap.names.variables), is_there);
  return gap.names.any() ? std::optional(std::move(gap)) : std::nullopt;
}

}  // namespace archguard
