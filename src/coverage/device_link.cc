#include "coverage/device_link.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "coverage/fit.h"
#include "image/ptx_limits.h"
#include "image/symbol_name.h"

namespace archguard {

std::string what_was_recorded() {
  return "; a driver of CUDA 13.0 answers with " + error_text(kSymbolNotFound);
}

namespace {

// Of objects of which none has code for the device. Without a known driver it is one that the runtime of the
// toolkit takes.
void say_what_was_recorded(const Device& device, Version toolkit, Judgement& judgement) {
  if (error_of_unfit_link(device.driver_cuda.value_or(toolkit)) == kNoKernelImage) return;
  judgement.numbered = false;
  judgement.reason += what_was_recorded();
}

template <class T>
void raise_to(std::optional<T>& to, const std::optional<T>& value) {
  if (value && (!to || *to < *value)) to = value;
}

bool is_ptx(const FatbinEntry& entry) {
  return entry.kind == EntryKind::ptx || entry.kind == EntryKind::reloc_ptx;
}

bool fatbin_holds_plain_ptx(const Fatbin& fatbin) {
  return std::any_of(fatbin.entries.begin(), fatbin.entries.end(), [](const FatbinEntry& entry) {
    return is_ptx(entry) && entry.arch.suffix == Suffix::none;
  });
}

// Has the object nothing that the device linker could take for this arch?
bool lacks(const Fatbin& part, Arch linked) {
  const ComputeCapability device = capability_of(linked);
  return std::none_of(part.entries.begin(), part.entries.end(), [&](const FatbinEntry& entry) {
    if (!entry.unknown.empty()) return true;  // nobody knows
    return fit_of(entry, device) != Fit::no;
  });
}

// Names that the device linker was given for one of the archs that it linked for. Where none of its images
// has one, it was left out on purpose: nvlink does so with kernels that host code does not name (`nvlink
// --help`: --use-host-info, and seen).
std::set<std::string_view> offered_names(const FatbinCode& code, const std::vector<Arch>& archs) {
  std::set<std::string_view> names;
  for (const Image& image : code.images) {
    const auto serves = [&](Arch arch) {
      return sass_fits(image.entry.arch, capability_of(arch)) == Fit::yes;
    };
    if (image.entry.kind != EntryKind::sass || !image.code ||
        std::none_of(archs.begin(), archs.end(), serves))
      continue;
    for (const Kernel& kernel : image.code->kernels) names.insert(kernel.name);
    for (const DeviceVariable& variable : image.code->variables) names.insert(variable.name);
  }
  return names;
}

constexpr std::size_t kNeedsOfLinkBytes = std::size_t{1} << 22;

// nvcc of 11.8 and newer lists what host code names (seen), clang, whose ids begin so, does not.
constexpr Version kFirstReferences{11, 8};
constexpr const char* kClangId = "__nv_";

// The names that all objects of the link list, as far as their ids tell; where they stand in several files,
// others may come to them.
const HostReferences* references_of(const DeviceCode& code, const DeviceLink& link) {
  if (link.linked.empty() || !link.absent.empty()) return nullptr;
  const DeviceObject& object = code.objects[link.linked.front().object];
  std::set<std::size_t> told;
  for (const Registration& each : object.registrations)
    if (each.fatbin && !each.module_id.empty() && !starts_with(each.module_id, kClangId))
      told.insert(*each.fatbin);
  const bool all = std::all_of(link.parts.begin(), link.parts.end(), [&](const FatbinRef& part) {
    return part.object == link.linked.front().object && told.count(part.fatbin) != 0;
  });
  return all && object.linked && object.references.told ? &object.references : nullptr;
}

// The ids of objects that are not there. An archive or object has none of libcudadevrt, which the link of a
// program brings.
std::vector<std::string> absent_of(const DeviceCode& code, const DeviceLink& link) {
  constexpr std::string_view kRuntime =
      "_22_cuda_device_runtime_cu_";  // its source, behind the length of that name
  std::vector<std::string> absent = link.absent;
  const bool linked = std::all_of(link.linked.begin(), link.linked.end(),
                                  [&](const FatbinRef& each) { return code.objects[each.object].linked; });
  if (linked) return absent;
  absent.erase(std::remove_if(absent.begin(), absent.end(),
                              [&](const std::string& id) { return id.find(kRuntime) != std::string::npos; }),
               absent.end());
  return absent;
}

bool lists_references(const Image& image) {
  if (image.entry.kind == EntryKind::ltoir) return true;  // from 11.2 on
  const auto toolkit = toolkit_of(image);
  return toolkit && !(*toolkit < kFirstReferences);
}

}  // namespace

LinkJudge::Subject subject_of(const DeviceObject& object, const FatbinCode& code) {
  return {{code.fatbin.offset, code.fatbin.section, object.member},
          where(object, code.fatbin),
          describe_images(code)};
}

DeviceLinks::DeviceLinks(const DeviceCode& code) : code_(code), links_(code.links.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    for (const FatbinRef& ref : code.links[i].linked) {
      roles_[{ref.object, ref.fatbin}].linked = i;
      for (const FatbinEntry& entry : fatbin(ref).entries)
        if (entry.kind == EntryKind::sass &&
            std::find(link.archs.begin(), link.archs.end(), entry.arch) == link.archs.end())
          link.archs.push_back(entry.arch);
    }
    link.absent = absent_of(code, code.links[i]);
    const auto& parts = code.links[i].parts;
    link.lists = link.obeyed_lists = references_of(code, code.links[i]);
    link.is_runtime.resize(parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      roles_[{parts[part].object, parts[part].fatbin}].parts.emplace_back(i, part);
      const auto& entries = fatbin(parts[part]).entries;
      link.holds_ltoir |= std::any_of(entries.begin(), entries.end(), [](const FatbinEntry& entry) {
        return entry.kind == EntryKind::ltoir;
      });
      link.any_lacks |= std::any_of(link.archs.begin(), link.archs.end(),
                                    [&](Arch arch) { return lacks(fatbin(parts[part]), arch); });
    }
  }
  for (auto& [place, role] : roles_)
    if (!role.parts.empty())
      role.name = "object " + where(code.objects[place.first], fatbin({place.first, place.second}));
  for (std::size_t i = 0; i < code.objects.size() && !links_.empty(); ++i)
    for (const Registration& registration : code.objects[i].registrations) {
      if (!registration.fatbin || registration.module_id.empty()) continue;
      const auto role = roles_.find({i, *registration.fatbin});
      if (role != roles_.end()) role->second.name += ", '" + registration.module_id + "',";
    }
}

const LinkRole* DeviceLinks::role(std::size_t object, std::size_t fatbin) const {
  const auto found = roles_.find({object, fatbin});
  return found == roles_.end() ? nullptr : &found->second;
}

void DeviceLinks::note(const LinkRole& role, const DeviceObject& object, const FatbinCode& code) {
  if (role.linked) note_linked(*role.linked, object, code);
  for (const auto& [link, part] : role.parts) note_part(link, part, object, code);
}

bool DeviceLinks::is_runtime(const FatbinCode& code) {
  return !code.images.empty() && std::all_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.code && image.code->names.is_runtime;
  });
}

void DeviceLinks::note_part(std::size_t index, std::size_t part, const DeviceObject& object,
                            const FatbinCode& code) {
  Link& link = links_[index];
  if (is_runtime(code)) {
    link.is_runtime[part] = true;
    for (const KernelName& kernel : code.kernels) link.of_runtime.insert(kernel.name);
    link.of_runtime.insert(code.variables.begin(), code.variables.end());
    for (const Image& image : code.images)
      link.runtime_defines.insert(image.code->names.defined.begin(), image.code->names.defined.end());
    return;
  }
  for (const Image& image : code.images) {
    if (image.code) link.defined.insert(image.code->names.defined.begin(), image.code->names.defined.end());
    link.names_whole = link.names_whole && (!image.code || image.code->names.whole);
    link.all_read = link.all_read && image.code;
    if (!image.code || image.entry.kind != EntryKind::sass ||
        std::count(link.archs.begin(), link.archs.end(), image.entry.arch) == 0)
      continue;
    for (const std::string& name : image.code->names.once)
      if (!link.once.emplace(image.entry.arch, name).second) link.twice.insert(name);
  }
  if (!std::all_of(code.images.begin(), code.images.end(), lists_references))
    link.lists = link.obeyed_lists = nullptr;
  link.wants_runtime |= std::any_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.code && image.code->names.wants_runtime;
  });
  if (!asks_for_image(code)) return;
  note_meant(index, code);
  for (const KernelName& kernel : code.kernels)
    if (kernel.real) link.real.insert(kernel.name);
  link.kernels += code.kernels.size();
  link.variables += code.variables.size();
  if (link.kernel.empty() && !code.kernels.empty()) link.kernel = code.kernels.front().name;
  if (link.variable.empty() && !code.variables.empty()) link.variable = code.variables.front();
  note_offered(index, part, object, code);
  Link::Lack lack{part,
                  {{code.fatbin.offset, code.fatbin.section, object.member},
                   where(object, code.fatbin),
                   describe_images(code),
                   {},
                   {}},
                  {}};
  const auto offered = offered_names(code, link.archs);
  const auto is_offered = [&](const std::string& name) { return offered.count(name) != 0; };
  for (const KernelName& kernel : code.kernels)
    if (!is_offered(kernel.name)) lack.left_out.names.missing.push_back(kernel.name);
  std::remove_copy_if(code.variables.begin(), code.variables.end(),
                      std::back_inserter(lack.left_out.names.variables), is_offered);
  for (const Arch arch : link.archs) {
    const Image* image = image_linked_for(code, arch);
    if (image == nullptr || image->entry.kind != EntryKind::ptx) continue;
    KernelGaps gaps = compare_kernels(code, static_cast<std::size_t>(image - code.images.data()));
    if (!gaps.missing.empty() || !gaps.variables.empty()) lack.of_ptx.emplace(arch, std::move(gaps));
  }
  const auto& names = lack.left_out.names;
  if (!names.missing.empty() || !names.variables.empty() || !lack.of_ptx.empty())
    link.lacks.push_back(std::move(lack));
}

void DeviceLinks::note_meant(std::size_t index, const FatbinCode& code) {
  std::vector<Meant>& all = links_[index].meant;
  for (const Image& image : code.images) {
    const FatbinEntry& entry = image.entry;
    Meant meant{entry, {}};
    if (!image.code && !code.kernels.empty()) meant.kernel = code.kernels.front().name;
    if (image.code && !image.code->kernels.empty()) meant.kernel = image.code->kernels.front().name;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Meant& each) {
      return each.image.kind == entry.kind && each.image.arch == entry.arch;
    });
    if (!is_known && !meant.kernel.empty()) all.push_back(std::move(meant));
  }
}

const DeviceLinks::Meant* DeviceLinks::meant_for(std::size_t link, ComputeCapability device) const {
  const auto& all = links_[link].meant;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Meant& each) {
    return each.image.arch.suffix == Suffix::none || fit_of(each.image, device) != Fit::no;
  });
  return found == all.end() ? nullptr : &*found;
}

void DeviceLinks::note_linked(std::size_t index, const DeviceObject& object, const FatbinCode& code) {
  Link& link = links_[index];
  if (!link.first_linked) {
    const LinkJudge::Subject subject = subject_of(object, code);
    link.first_linked = LeftOut{subject.place, subject.where, subject.found, {}, {}, Unread::ltoir};
  }
  // Kernels that the lists do not name are left out, but where the linker was told not to, or was given
  // objects without lists. Then other code may name variables, too.
  if (link.obeyed_lists != nullptr &&
      std::any_of(code.kernels.begin(), code.kernels.end(),
                  [&](const KernelName& kernel) { return !link.obeyed_lists->may_name(kernel.name); }))
    link.obeyed_lists = nullptr;
  for (const KernelName& kernel : code.kernels) names_of_all_links_.insert(kernel.name);
  names_of_all_links_.insert(code.variables.begin(), code.variables.end());
  if (!link.any_lacks) return;
  // PTX of --relocatable-ptx has all that the objects had.
  for (const Image& image : code.images) {
    if (image.entry.kind == EntryKind::reloc_ptx || !image.code) continue;
    for (const Kernel& kernel : image.code->kernels) link.linked_names.push_back(kernel.name);
    for (const DeviceVariable& each : image.code->variables) link.linked_names.push_back(each.name);
  }
  std::sort(link.linked_names.begin(), link.linked_names.end());
}

std::vector<DeviceLinks::LeftOut> DeviceLinks::left_out(std::size_t index, Arch linked) const {
  const Link& link = links_[index];
  std::vector<LeftOut> all;
  for (const Link::Lack& lack : link.lacks) {
    const Fatbin& part = fatbin(code_.links[index].parts[lack.part]);
    const bool whole = lacks(part, linked);
    const bool has_sass =
        std::any_of(part.entries.begin(), part.entries.end(), [&](const FatbinEntry& entry) {
          return entry.kind == EntryKind::sass && sass_fits(entry.arch, capability_of(linked)) == Fit::yes;
        });
    // Of its PTX nvlink made it, or left out what it left out.
    const auto of_ptx = lack.of_ptx.find(linked);
    if (!whole && !has_sass && of_ptx == lack.of_ptx.end()) continue;
    const KernelGaps& names = whole || has_sass ? lack.left_out.names : of_ptx->second;
    LeftOut left_out{lack.left_out.place, lack.left_out.where, lack.left_out.found, {}, {}};
    if (!whole) left_out.unread = Unread::image;
    const auto is_linked = [&](const std::string& name) {
      return whole ? std::binary_search(link.linked_names.begin(), link.linked_names.end(), name)
                   : names_of_all_links_.count(name) != 0;
    };
    // nvlink leaves out on purpose what no host code names.
    const auto is_wanted = [&](const std::string& name, bool untold) {
      return whole || (link.lists == nullptr ? untold : link.lists->does_name(name));
    };
    const auto copy = [&](const std::vector<std::string>& from, std::vector<std::string>& to, bool untold) {
      std::copy_if(from.begin(), from.end(), std::back_inserter(to),
                   [&](const std::string& name) { return !is_linked(name) && is_wanted(name, untold); });
    };
    copy(names.missing, left_out.names.missing, true);
    copy(names.variables, left_out.names.variables, false);  // device code may use it alone
    left_out.unnamed = take_unnamed(index, left_out.names);
    if (!left_out.names.missing.empty() || !left_out.names.variables.empty() || !left_out.unnamed.empty())
      all.push_back(std::move(left_out));
  }
  const auto [cached, is_new] = unread_.try_emplace({index, linked});
  if (is_new) cached->second = unread(index, linked);
  all.insert(all.end(), cached->second.begin(), cached->second.end());
  return all;
}

// A program brings libcudadevrt to a link that an object or archive holds.
bool DeviceLinks::may_be_of_runtime(std::size_t index, const std::string& name) const {
  const auto& linked = code_.links[index].linked;
  const bool whole = std::all_of(linked.begin(), linked.end(),
                                 [&](const FatbinRef& each) { return code_.objects[each.object].linked; });
  return links_[index].runtime_defines.count(name) != 0 || (!whole && is_of_device_runtime(name));
}

bool DeviceLinks::defines(std::size_t link, const std::string& name) const {
  return links_[link].names_whole && links_[link].defined.count(name) != 0;
}

DeviceLinks::Needless DeviceLinks::take_needless(std::size_t index, Arch linked, KernelGaps& gaps) const {
  const Link& link = links_[index];
  const auto take = [&](std::vector<std::string>& names, const auto& is_needless) {
    const auto kept = std::remove_if(names.begin(), names.end(), is_needless);
    const auto taken = static_cast<std::uint64_t>(names.end() - kept);
    names.erase(kept, names.end());
    return taken;
  };
  const auto is_of_runtime = [&](const std::string& name) { return link.of_runtime.count(name) != 0; };
  const auto is_left_out = [&](const std::string& name) {
    return is_of_runtime(name) || (link.lists != nullptr && link.unnamed.count({linked, name}) != 0);
  };
  return {take(gaps.missing, is_left_out), take(gaps.variables, is_of_runtime)};
}

std::vector<std::string> DeviceLinks::take_unnamed(std::size_t index, KernelGaps& gaps) const {
  const Link& link = links_[index];
  if (link.obeyed_lists == nullptr) return {};
  // Another file may name a library's variable, unless it is static; and only a link of LTO-IR leaves out
  // those that nothing names.
  const bool elsewhere = !link.obeyed_lists->program && !link.holds_ltoir;
  auto& names = gaps.variables;
  const auto unnamed = std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return (elsewhere && without_file_mark(name) == name) || link.obeyed_lists->does_name(name);
  });
  std::vector<std::string> taken(std::make_move_iterator(unnamed), std::make_move_iterator(names.end()));
  names.erase(unnamed, names.end());
  return taken;
}

void DeviceLinks::tell_hollow(std::size_t index, KernelGaps& gaps) const {
  // Of LTO-IR the linker may have found out that a kernel has nothing to do.
  if (!links_[index].holds_ltoir)
    std::copy_if(gaps.idle.begin(), gaps.idle.end(), std::back_inserter(gaps.hollow),
                 [&](const std::string& name) { return links_[index].real.count(name) != 0; });
  gaps.idle.clear();
}

std::vector<Arch> DeviceLinks::archs_of_objects(std::size_t index) const {
  const auto& parts = code_.links[index].parts;
  std::vector<Arch> archs;
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (!links_[index].is_runtime[part])
      for (const FatbinEntry& entry : fatbin(parts[part]).entries)
        if (std::find(archs.begin(), archs.end(), entry.arch) == archs.end()) archs.push_back(entry.arch);
  return archs;
}

std::optional<std::string> DeviceLinks::without_plain_ptx(std::size_t index) const {
  const auto& parts = code_.links[index].parts;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool needed = !links_[index].is_runtime[part] || links_[index].wants_runtime;
    if (needed && !fatbin_holds_plain_ptx(fatbin(parts[part])))
      return where(code_.objects[parts[part].object], fatbin(parts[part]));
  }
  if (!absent_ids(index).empty()) return "'" + absent_ids(index).front() + "', which is not in this file";
  return std::nullopt;
}

Expectation DeviceLinks::expect(std::size_t index, const Fatbin& linked,
                                const std::vector<ExpectedImage>& expected) const {
  std::vector<const Fatbin*> parts;
  for (std::size_t part = 0; part < links_[index].is_runtime.size(); ++part)
    if (!links_[index].is_runtime[part]) parts.push_back(&fatbin(code_.links[index].parts[part]));
  return expect_linked(linked, parts, expected);
}

void LinkJudge::note_toolkit(std::size_t link, const FatbinCode& code) {
  for (const Image& image : code.images)
    if (image.code && image.code->toolkit) toolkits_[link] = std::max(toolkits_[link], *image.code->toolkit);
}

void LinkJudge::add_part(std::size_t link, const std::string& name, const DeviceObject& object,
                         const FatbinCode& code) {
  const bool runtime = links_.is_runtime(code);
  note_toolkit(link, code);
  Answer& answer = (runtime ? runtimes_ : objects_)[link];
  Judgement judgement = judge_part(code, device_, policy_.environment);
  raise_to(answer.needs_driver, judgement.needs_driver);
  if (judgement.verdict != Verdict::uncovered || judgement.image) ++answer.fitting;
  if (judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit) {
    if (runtime) return;
    const Image& image = code.images[*judgement.image];
    const LinkNames& names = image.code->names;
    if (counts_) {
      for (const KernelName& kernel : code.kernels) answer.held.insert(kernel.name);
      for (const Kernel& kernel : image.code->kernels) answer.taken[kernel.name] |= !is_hollow(kernel.state);
    }
    answer.exact = answer.exact && capability_of(image.entry.arch) == *device_.capability;
    add_constants(answer, *image.code);
    add_once(link, answer, name, *image.code);
    answer.shared.push_back(linked_shared_of(image));
    if (links_.holds_ltoir(link)) {
      for (const Kernel& kernel : image.code->kernels) answer.names.emplace(without_file_mark(kernel.name));
      for (const DeviceVariable& each : image.code->variables)
        answer.names.emplace(without_file_mark(each.name));
      if (answer.image.empty()) answer.image = image_name(image.entry);
    }
    answer.defined.insert(names.defined.begin(), names.defined.end());
    for (const std::string& wanted : names.wanted) answer.wanted.try_emplace(wanted, name);
    answer.surely.insert(names.surely.begin(), names.surely.end());
    for (const auto& [function, needed] : names.through)
      answer.through_bytes += function.size() + needed.size() + 1;
    const bool few = answer.through_bytes <= kNeedsOfLinkBytes;
    if (few) answer.through.insert(names.through.begin(), names.through.end());
    if (!names.tells_needs || !few) answer.perhaps.insert(names.wanted.begin(), names.wanted.end());
    KernelGaps gaps = compare_kernels(code, *judgement.image);
    if (!gaps.any()) return;
    answer.gaps.push_back({subject_of(object, code), image_name(image.entry), std::move(gaps), link, {}});
    return;
  }
  // What cannot be told is no reason where another object is known to fail.
  const bool graver =
      answer.bad && answer.bad->verdict == Verdict::unknown && judgement.verdict != Verdict::unknown;
  if (answer.bad) ++answer.more;
  if (answer.bad && !graver) return;
  answer.bad = std::move(judgement);
  answer.name = name;
  answer.found = describe_images(code);
}

std::optional<Judgement> LinkJudge::add_linked(std::size_t link, const DeviceObject& object,
                                               const FatbinCode& code) {
  JudgePolicy policy = policy_;
  policy.require_ptx = false;  // PTX is in the objects
  note_toolkit(link, code);
  Outcome outcome;
  outcome.link = link;
  outcome.subject = subject_of(object, code);
  outcome.kernels = code.kernels.size();
  outcome.variables = code.variables.size();
  if (!code.kernels.empty()) outcome.kernel = code.kernels.front().name;
  if (!code.variables.empty()) outcome.variable = code.variables.front();
  if (links_.holds_ltoir(link)) {
    for (const KernelName& kernel : code.kernels) outcome.kernels_of_ltoir.push_back(kernel.name);
    outcome.variables_of_ltoir = code.variables;
  }
  outcome.judgement = judge(code, device_, policy);
  const Judgement judgement = outcome.judgement;
  const bool no_image = judgement.verdict == Verdict::uncovered && judgement.code == kNoKernelImage;
  outcome.counted =
      !no_image && judgement.verdict != Verdict::nothing && judgement.verdict != Verdict::specific;
  outcome.taken = sass_taken(code, judgement);
  linked_.push_back(std::move(outcome));
  return linked_.back().counted ? std::optional<Judgement>(judgement) : std::nullopt;
}

std::optional<Arch> LinkJudge::sass_taken(const FatbinCode& code, const Judgement& judgement) const {
  if (judgement.verdict == Verdict::sass) return code.images[*judgement.image].entry.arch;
  if (judgement.verdict != Verdict::nothing || !policy_.environment.forces_jit.empty()) return std::nullopt;
  std::optional<Arch> taken;
  for (const Image& image : code.images)
    if (image.entry.kind == EntryKind::sass && sass_fits(image.entry.arch, *device_.capability) == Fit::yes &&
        (!taken || taken->number < image.entry.arch.number))
      taken = image.entry.arch;
  return taken;
}

void LinkJudge::add_gaps(std::size_t link, Subject subject, const FatbinEntry& image, KernelGaps gaps) {
  gaps_.push_back({std::move(subject), image_name(image), std::move(gaps), link, {}, image.arch, {}});
}

std::vector<LinkJudge::Gap> LinkJudge::lacking() {
  for (Gap& gap : gaps_) {
    gap.needless = links_.take_needless(gap.link, gap.arch, gap.names);
    gap.unnamed = links_.take_unnamed(gap.link, gap.names);
    links_.tell_hollow(gap.link, gap.names);
  }
  return std::move(gaps_);
}

std::vector<LinkJudge::Outcome> LinkJudge::finish() {
  std::vector<bool> told(links_.size());  // what an object lacks, once for all that was made of it
  for (Outcome& outcome : linked_) {
    if (outcome.taken) outcome.left_out = links_.left_out(outcome.link, *outcome.taken);
    if (!outcome.counted) decide(outcome);
    const Verdict verdict = outcome.judgement.verdict;
    if (policy_.require_ptx && (verdict == Verdict::sass || verdict == Verdict::jit))
      outcome.lacks = links_.without_plain_ptx(outcome.link);
    if (!outcome.judgement.linked_at_load || verdict != Verdict::jit) continue;
    auto of_ltoir = gap_of_ltoir(outcome);
    if (told[outcome.link]) {
      if (of_ltoir) outcome.gaps.push_back(*std::move(of_ltoir));
      continue;
    }
    told[outcome.link] = true;
    if (counts_) outcome.got = got(outcome);
    outcome.gaps = std::move(objects_[outcome.link].gaps);
    if (of_ltoir) outcome.gaps.push_back(*std::move(of_ltoir));
    for (Gap& gap : outcome.gaps) gap.unnamed = links_.take_unnamed(outcome.link, gap.names);
  }
  return std::move(linked_);
}

// Those of the device runtime are among what was linked, and it comes with its own for the device.
KernelSum LinkJudge::got(const Outcome& outcome) const {
  const Answer& objects = objects_[outcome.link];
  const std::uint64_t lacking = objects.held.size() - std::min(objects.held.size(), objects.taken.size());
  const auto idle = static_cast<std::uint64_t>(std::count_if(objects.taken.begin(), objects.taken.end(),
                                                             [](const auto& each) { return !each.second; }));
  const std::uint64_t fit =
      std::max<std::uint64_t>(outcome.kernels - std::min(outcome.kernels, lacking), objects.taken.size());
  return {fit, fit - idle, fit - idle};
}

// No SASS with kernels of what was linked is for this device.
void LinkJudge::decide(Outcome& outcome) const {
  Judgement& judgement = outcome.judgement;
  if (!links_.asks(outcome.link)) return;  // as it was judged by itself
  if (outcome.kernels + outcome.variables == 0) {
    outcome.kernels = counts_ ? objects_[outcome.link].held.size() : links_.kernels(outcome.link);
    outcome.variables = links_.variables(outcome.link);
    outcome.kernel = links_.kernel(outcome.link);
    outcome.variable = links_.variable(outcome.link);
  }
  outcome.change = change_for(outcome.link);
  if (outcome.taken) return;  // an image without kernels is taken: what was left out of it is told
  Judgement again = relink(outcome.link);
  const bool hopeless = objects_[outcome.link].fitting == 0;
  // What was linked has a suffix; what it was linked of is for this device, too.
  const auto* meant =
      judgement.verdict == Verdict::specific ? links_.meant_for(outcome.link, *device_.capability) : nullptr;
  if (meant != nullptr) {
    judgement.verdict = Verdict::uncovered;
    outcome.kernel = meant->kernel;
  }
  if (judgement.verdict == Verdict::specific && again.verdict == Verdict::uncovered) {
    if (hopeless) say_what_was_recorded(device_, toolkits_[outcome.link], judgement);
    return;
  }
  // Where no object has anything for the device, nothing is special about the link.
  if (hopeless && judgement.verdict == Verdict::uncovered) {
    say_what_was_recorded(device_, toolkits_[outcome.link], judgement);
    return;
  }
  judgement = require(std::move(again), policy_);
}

Judgement LinkJudge::relink(std::size_t link) const {
  Judgement judgement;
  judgement.verdict = Verdict::jit;
  judgement.linked_at_load = true;
  const auto fail = [&](Verdict verdict, int code, std::string reason) {
    if (judgement.verdict == Verdict::uncovered) return;
    judgement.verdict = verdict;
    judgement.code = code;
    judgement.reason = std::move(reason);
  };
  const Answer& objects = objects_[link];
  const std::string again =
      "no SASS that the device linker made fits, and to link again when the program is loaded, the driver "
      "needs code of each object: ";
  if (!links_.absent_ids(link).empty())
    fail(Verdict::uncovered, kNoKernelImage,
         again + "'" + links_.absent_ids(link).front() + "' is not in this file");
  const bool wants_runtime = links_.wants_runtime(link);
  for (const Answer* answer : {&objects, static_cast<const Answer*>(&runtimes_[link])}) {
    const bool asked = answer == &objects || wants_runtime;
    if (asked) raise_to(judgement.needs_driver, answer->needs_driver);
    if (!answer->bad) continue;
    if (!asked && may_link_runtime_of_others(device_)) {
      if (!device_.driver_cuda) raise_to(judgement.needs_driver, std::optional<Version>(kFirstToLinkRuntime));
      continue;
    }
    if (!asked) {  // where no SASS is linked, nvlink leaves it among the objects; nvJitLink then refuses them
      if (judgement.verdict != Verdict::jit) continue;
      fail(Verdict::unknown, 0,
           again + answer->name + " holds " + answer->found + "; " + answer->bad->reason +
               "; nothing calls it, and whether the driver leaves it out is not known");
      judgement.mend = "link with -cudadevrt none, since nothing of it calls libcudadevrt";
      continue;
    }
    if (answer != &objects && may_link_runtime_of_others(device_)) {
      fail(Verdict::unknown, 0,
           again + answer->name + " holds " + answer->found +
               ", no code for this device; the linker of CUDA 13.2 and newer takes it all the same, and what "
               "this driver does is not known");
      continue;
    }
    const std::string more =
        answer->more == 0 ? "" : " (and " + std::to_string(answer->more) + " more like it)";
    fail(answer->bad->verdict, answer->bad->code,
         again + answer->name + " holds " + answer->found + more + "; " + answer->bad->reason);
    if (judgement.mend.empty()) judgement.mend = answer->bad->mend;
  }
  refuse_unresolved(link, again, judgement);
  if (const std::uint64_t bytes = constants(link);
      bytes > kConstantsMost && judgement.verdict == Verdict::jit) {
    fail(Verdict::unknown, 0,
         again + "constants (__constant__) of all objects have " + std::to_string(bytes) + " bytes, and " +
             std::to_string(kConstantsMost) +
             " are the most; whether the driver leaves out those that nothing uses is not known");
    judgement.mend = "compile and link this code for sm_" +
                     std::to_string(device_.capability->major * 10 + device_.capability->minor) +
                     " too: nvlink leaves out what nothing uses";
  }
  if (judgement.verdict == Verdict::jit) refuse_definitions(link, again, judgement);
  if (judgement.verdict == Verdict::jit) refuse_shared(link, again, judgement);
  judgement.numbered = judgement.verdict == Verdict::jit || objects.fitting == 0;
  if (judgement.verdict == Verdict::uncovered && objects.fitting == 0 && objects.bad) {
    judgement.reason = objects.bad->reason;
    if (objects.bad->code == kNoKernelImage) say_what_was_recorded(device_, toolkits_[link], judgement);
  }
  return judgement;
}

}  // namespace archguard
