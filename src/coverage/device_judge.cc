#include "coverage/device_judge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "compat/driver.h"
#include "coverage/device_driver.h"
#include "coverage/device_fixes.h"
#include "coverage/embedded_failure.h"
#include "coverage/failures_by_cause.h"
#include "coverage/library_scope.h"
#include "coverage/other_order.h"
#include "coverage/registered_names.h"
#include "coverage/untold_links.h"
#include "fatbin/runtime_code.h"

namespace archguard {
namespace {

template <class T>
void raise(std::optional<T>& to, const std::optional<T>& value) {
  if (value && (!to || *to < *value)) to = value;
}

template <class Use>
void for_each_name(const FatbinCode& code, Use use) {
  for (const KernelName& kernel : code.kernels) use(kernel.name);
  for (const std::string& variable : code.variables) use(variable);
}

constexpr const char* kUsed =
    "--kernels-used and --variables-used of nvlink keep what they name alone, or the device link is older "
    "than the object";

// `ltoir`: some object has LTO-IR, which is not read.
std::string why_left_out(DeviceLinks::Unread unread, const std::string& image, bool ltoir) {
  const std::string first = "of an object that `ld -r` joined, nvlink reads the first fat binary alone";
  if (ltoir && (unread == DeviceLinks::Unread::object || unread == DeviceLinks::Unread::unused))
    return "host code names it, and what the device linker made for " + image +
           " lacks it: so may the LTO-IR for that arch, as where an #if on __CUDA_ARCH__ leaves it out; or " +
           first + ", or " + kUsed;
  switch (unread) {
    case DeviceLinks::Unread::no:
      break;
    case DeviceLinks::Unread::object:
      return "the device linker left it out of " + image +
             ", though this object holds it for that arch and host code names it: " + first + ", " + kUsed;
    case DeviceLinks::Unread::ltoir:
      return "host code registers and names it, and nothing that the device linker made of LTO-IR holds "
             "it: its LTO-IR lacks it, as where an #if on __CUDA_ARCH__ leaves it out, or " +
             first;
    case DeviceLinks::Unread::image:
      return "the device linker made " + image +
             " of what this object holds for that arch, which lacks it; another image of the object has it";
    case DeviceLinks::Unread::unused:
      return "the device linker left it out of " + image +
             ", though this object holds it for that arch and host code names it: " + kUsed;
  }
  return "the device linker left it out of " + image + ": this object holds nothing for that arch";
}

Fix lacking(const std::string& image) {
  Fix fix;
  fix.lacking = image;
  return fix;
}

Fix fix_of_left_out(DeviceLinks::Unread unread, const std::string& image) {
  if (unread == DeviceLinks::Unread::no || unread == DeviceLinks::Unread::image) return lacking(image);
  Fix fix;
  const std::string unused =
      "run the device link again, without --kernels-used and --variables-used of nvlink";
  const std::string each = kLinkEachObject;
  fix.change = unread == DeviceLinks::Unread::unused   ? unused
               : unread == DeviceLinks::Unread::object ? each + ", and " + unused
                                                       : each;
  return fix;
}

}  // namespace

// One file's answer for one class of devices, fat binary after fat binary.
struct DeviceJudge::State {
  State(const DeviceClass& devices, const VerifyPolicy& policy, Waivers& waivers, const DeviceLinks& links,
        HostNames& host_names, SharedStubs& stubs, LibraryCensus* census)
      : stated_(devices),
        known_(with_driver_that_knows(devices, policy)),
        device_(known_.devices.device),
        policy_(known_.policy),
        waivers_(waivers),
        census_(census),
        links_(links),
        link_judge_(links, device_, policy_.judge, census != nullptr),
        registered_(host_names, links),
        stubs_(stubs),
        failures_(device_, policy_.target, result_.failures),
        fixes_(device_, policy_, waivers_) {}

  void add(const DeviceObject& object, const FatbinCode& code, const LinkRole* role) {
    untold_links_ |= is_untold_part(object, code);
    if (role != nullptr)
      for (const auto& part : role->parts) {
        link_judge_.add_part(part.first, role->name, object, code);
        if (policy_.scope == Scope::fatbin) registered_.take_part(part.first, object, code);
      }
    if (role == nullptr || !role->linked || code.fatbin.emptied)
      add(object, code, judge(code, device_, policy_.judge), std::nullopt);
    else if (const auto judgement = link_judge_.add_linked(*role->linked, object, code))
      add(object, code, *judgement, role->linked);
    else if (policy_.scope == Scope::fatbin)
      registered_.take_relinked(*role->linked, object, code);
    if (role != nullptr) note_build_of_link(code);
    if (role != nullptr) note_waived_of_link(code);
    if (role != nullptr && role->linked && linked_.size() < kCausesMost)
      linked_.try_emplace(where(object, code.fatbin),
                          fixes_.demands_of(code, judge(code, device_, policy_.judge)));
  }

  // Whoever builds the link anew builds all of it, whatever the device takes; the device runtime comes with
  // the toolkit.
  void note_build_of_link(const FatbinCode& code) {
    if (!DeviceLinks::is_runtime(code)) fixes_.note_kind(code, {});
  }

  // `link`: the device link that made the fat binary, or nothing.
  void add(const DeviceObject& object, const FatbinCode& code, const Judgement& judgement,
           const std::optional<std::size_t>& link) {
    if (judgement.verdict == Verdict::nothing) return;
    ++result_.fatbins.total;
    fixes_.note_kind(code, judgement);
    if (known_.needs_driver) add_needs(code, judgement);
    const bool variables_only = code.kernels.empty() && !code.variables.empty();
    if (!variables_only) ++with_kernels_.total;
    const bool covered = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
    if (judgement.verdict == Verdict::specific) {
      if (result_.fatbins.specific++ == 0)
        specific_ = {as_seen(judgement).code, judgement.numbered, fixes_.find(code, judgement)};
      add_for_others(object, code, judgement);
      for_others_.emplace(object.member, code.fatbin.offset);
      if (!variables_only) ++with_kernels_.specific;
      return;
    }
    result_.kernels.total += code.kernels.size();
    result_.variables.total += code.variables.size();
    raise(result_.needs_driver, judgement.needs_driver);
    add_other_order(object, code, judgement);
    if (!covered) {
      const bool unknown = judgement.verdict == Verdict::unknown;
      ++(unknown ? result_.fatbins.unknown : result_.fatbins.uncovered);
      for_each_name(code, [&](const std::string& name) { waivers_.leave_open(name, *device_.capability); });
      const Judgement seen = as_seen(judgement);
      failures_.add(object, code,
                    {seen.code, seen.numbered, unknown, seen.reason, FailureCause::image,
                     fixes_.find(code, judgement), seen.code != judgement.code},
                    code.kernels.empty() ? std::string() : code.kernels.front().name,
                    variables_only ? code.variables.front() : std::string());
      return;
    }
    ++(judgement.verdict == Verdict::sass ? result_.fatbins.sass : result_.fatbins.jit);
    const bool any_there = add_kernels(object, code, *judgement.image, link);
    if (!variables_only && any_there) ++with_kernels_.fitting;
    if (census_ != nullptr) add_to(got_, census_->of_image(*judgement.image, judgement.verdict));
  }

  DeviceResult finish(const std::vector<ExpectedImage>& held, bool whole,
                      const std::vector<std::string>& runtime_code, const BareImages& bare,
                      RuntimeUse& runtime, DriverFunctions& functions) {
    add_lacking(link_judge_.lacking());
    std::vector<LinkJudge::Outcome> outcomes = link_judge_.finish();
    for (LinkJudge::Outcome& outcome : outcomes) take_unregistered(outcome);
    auto registered = registered_.tell();
    for (RegisteredNames::Finding& finding : registered)
      if (!finding.relinked) add_registered(std::move(finding));
    for (const LinkJudge::Outcome& outcome : outcomes) {
      add_link(outcome);
      if (!is_relinked(outcome)) continue;
      for (RegisteredNames::Finding& finding : registered)
        if (finding.relinked == outcome.link)
          add_registered(std::exchange(finding, {}));  // once, though several may be linked of it
    }
    if (policy_.scope == Scope::fatbin && !for_others_.empty()) add_shared_stubs();
    if (untold_links_) doubt_missing_images(result_);
    auto& counts = result_.fatbins;
    // A fat binary of variables alone is no answer to who asks for kernels.
    const bool any_kernels = with_kernels_.total != 0;
    const bool any_fits = any_kernels ? with_kernels_.fitting != 0 : counts.sass + counts.jit != 0;
    const bool all_specific = any_kernels ? with_kernels_.total == with_kernels_.specific
                                          : counts.total != 0 && counts.total == counts.specific;
    // What it holds as data it may load, and nothing else.
    const bool loads_more =
        fatbin::compiles_code(runtime_code) || (!runtime_code.empty() && bare.items().empty());
    if (census_ != nullptr)
      judge_as_library(result_, {*census_, got_, *device_.capability, device_.driver_cuda, policy_.partly,
                                 any_fits, loads_more});
    result_.embedded = judge_embedded(bare, device_, policy_.judge, policy_.scope == Scope::library);
    if (all_specific && result_.embedded.fitting == 0)
      result_.failures.push_back({specific_.code,
                                  false,
                                  std::string("every fat binary is for other devices only") +
                                      (specific_.numbered ? "" : what_was_recorded()),
                                  {},
                                  "images with an a or f suffix, none for this device",
                                  {},
                                  {},
                                  {},
                                  FailureCause::image,
                                  {},
                                  specific_.numbered,
                                  specific_.fix});
    // What does not run is said apart, and covers nothing.
    const bool embedded_runs =
        !device_.driver_cuda || !(*device_.driver_cuda < result_.embedded.needs_driver.value_or(Version{}));
    if (embedded_runs || counts.total == 0) raise(result_.needs_driver, result_.embedded.needs_driver);
    if (known_.needs_driver)
      for (const FatbinCode& kind : bare.kinds()) add_needs(kind, judge(kind, device_, policy_.judge));
    raise(result_.needs_driver, known_.needs_driver);
    if (result_.needs_driver) raise(result_.needs_driver, first_driver_cuda_for(*device_.capability));
    judge_runtime(result_, known_.devices, policy_, fixes_.take_kinds(), runtime);
    judge_driver_functions(result_, stated_.device, device_, policy_, functions);
    judge_device_driver(result_, stated_, policy_, runtime);
    for (auto* names :
         {&result_.kernels.missing, &result_.kernels.unlaunchable, &result_.kernels.hollow,
          &result_.variables.missing, &result_.variables.unregistered, &result_.variables.unnamed}) {
      std::sort(names->begin(), names->end());
      names->erase(std::unique(names->begin(), names->end()), names->end());
    }
    fixes_.say(result_, held);
    add_embedded_failure(result_, policy_, fatbin::compiles_code(runtime_code));
    number_for_driver(result_, device_);
    const auto is_unknown = [](const Failure& failure) { return failure.unknown; };
    const bool any_unknown = std::any_of(result_.failures.begin(), result_.failures.end(), is_unknown);
    const bool all_unknown = std::all_of(result_.failures.begin(), result_.failures.end(), is_unknown);
    result_.coverage = !all_unknown            ? Coverage::not_covered
                       : any_unknown || !whole ? Coverage::unknown
                                               : Coverage::covered;
    if (result_.coverage == Coverage::covered)
      result_.fix.clear();
    else
      result_.for_others.reset();
    return std::move(result_);
  }

  static bool is_relinked(const LinkJudge::Outcome& outcome) {
    return !outcome.counted && outcome.judgement.verdict == Verdict::jit;
  }

  // What nothing registers fails for that, whatever image lacks it; and what nothing launches is not missed.
  void take_unregistered(LinkJudge::Outcome& outcome) {
    if (policy_.scope != Scope::fatbin) return;
    for (DeviceLinks::LeftOut& left_out : outcome.left_out) {
      auto names = registered_.take_unregistered(outcome.link, left_out.names, left_out.unnamed);
      for (const auto& [lacks, kernels] : names.kernels) result_.kernels.total += kernels.size();
      add_unregistered(std::move(names));
    }
    if (!is_relinked(outcome)) return;
    for (LinkJudge::Gap& gap : outcome.gaps) {
      auto names = registered_.take_unregistered(outcome.link, gap.names, gap.unnamed);
      outcome.kernels -= std::min(outcome.kernels, names.never_launched);
      for (const auto& [lacks, kernels] : names.kernels) outcome.unlaunchable += kernels.size();
      add_unregistered(std::move(names));
    }
  }

  // Of images that device links made, now that it is known what host code names of them.
  void add_lacking(std::vector<LinkJudge::Gap> gaps) {
    for (LinkJudge::Gap& gap : gaps) {
      result_.kernels.total -= gap.needless.kernels;
      result_.variables.total -= gap.needless.variables;
      auto unregistered = registered_.take_unregistered(gap.link, gap.names, gap.unnamed);
      result_.kernels.total -= std::min(result_.kernels.total, unregistered.never_launched);
      add_unnamed(gap.image, gap.unnamed);
      add_unregistered(std::move(unregistered));
      add_gaps(std::move(gap.names), gap.subject, gap.image);
    }
  }

  void add_unnamed(const std::string& image, const std::vector<std::string>& names) {
    auto& all = result_.variables.unnamed;
    std::remove_copy_if(names.begin(), names.end(), std::back_inserter(all),
                        [&](const std::string& name) { return waivers_.waive(name, *device_.capability); });
    if (!names.empty()) result_.variables.unnamed_in = image;
  }

  // Kernels of which the runtime launches one that is for other devices only.
  void add_shared_stubs() {
    for (SharedStubs::Finding& finding : stubs_.find(for_others_)) {
      auto& kernels = finding.kernels;
      remove_waived(kernels);
      if (kernels.empty()) continue;
      Fix fix;
      fix.change =
          "compile all files that hold this kernel for the same architectures; or, if it is one of a "
          "template, "
          "without -rdc=true by nvcc 13.0 or newer with -static-global-template-stub=true (its default)";
      std::string reason =
          "its fat binary is for other devices only, and registered before one that holds a kernel of the "
          "same name; ";
      if (finding.sure)
        reason +=
            "they share a host function, for which the runtime launches the kernel that was registered first";
      else {
        reason += std::string(finding.stripped ? "no symbol tells" : "its symbols do not tell") +
                  " whether they share a host function, for which the runtime would launch the kernel that "
                  "was registered first";
        if (finding.stripped) fix.change += "; symbols (no strip) would tell it";
      }
      const bool first = shared_.insert(finding.subject.where).second;
      if (first) ++(finding.sure ? result_.fatbins.uncovered : result_.fatbins.unknown);
      if (first) --result_.fatbins.specific;
      failures_.add({kNoKernelImage, true, !finding.sure, reason, FailureCause::image, fix}, kernels.front(),
                    {}, finding.subject);
    }
  }

  // What a device link made, now that its objects are known.
  void add_link(const LinkJudge::Outcome& outcome) {
    if (!outcome.counted) add_linked_at_load(outcome);
    if (outcome.lacks)
      failures_.add({0, true, false, "it holds no plain PTX, which is required, in " + *outcome.lacks,
                     FailureCause::image, add_ptx_to_link(outcome)},
                    outcome.kernel, outcome.variable, outcome.subject);
    for (const DeviceLinks::LeftOut& left_out : outcome.left_out) {
      add_unnamed("sm_" + to_string(*outcome.taken), left_out.unnamed);
      result_.kernels.total += left_out.names.missing.size();
      result_.variables.total += left_out.names.variables.size();
      const std::string image = "sm_" + to_string(*outcome.taken);
      const std::string reason = why_left_out(left_out.unread, image, links_.holds_ltoir(outcome.link));
      add_gaps(left_out.names, {left_out.place, left_out.where, left_out.found}, image,
               fix_of_left_out(left_out.unread, image), reason, {});
    }
    for (const LinkJudge::Gap& gap : outcome.gaps) {
      add_unnamed(gap.image, gap.unnamed);
      result_.kernels.covered -= std::min<std::uint64_t>(result_.kernels.covered, gap.names.missing.size());
      if (!gap.only_of_ltoir)
        add_gaps(gap.names, gap.subject, gap.image);
      else
        add_gaps(gap.names, gap.subject, gap.image, lacking(gap.image),
                 "the driver links the " + gap.image +
                     " images of the objects again for this device, and they lack it; what was linked of "
                     "their LTO-IR has it",
                 {});
    }
  }

  // Of which link the objects are is told later.
  void note_waived_of_link(const FatbinCode& code) {
    if (waivers_.empty()) return;
    for_each_name(code, [&](const std::string& name) {
      if (waivers_.is_waived(name, *device_.capability)) waived_of_links_.insert(name);
    });
  }

  // What no SASS of the link serves: its objects decide, or what was left out of an image without code.
  void add_linked_at_load(const LinkJudge::Outcome& outcome) {
    const Verdict verdict = outcome.judgement.verdict;
    if (verdict == Verdict::nothing && outcome.left_out.empty()) return;
    auto& counts = result_.fatbins;
    ++counts.total;
    const bool variables_only = outcome.kernels == 0;
    if (!variables_only) ++with_kernels_.total;
    if (verdict == Verdict::specific) {
      if (counts.specific++ == 0)
        specific_ = {outcome.judgement.code, outcome.judgement.numbered,
                     mend_link(outcome, outcome.judgement)};
      add_for_others(outcome.subject, outcome.kernel, mend_link(outcome, outcome.judgement));
      for_others_.emplace(outcome.subject.place.member, outcome.subject.place.offset);
      if (!variables_only) ++with_kernels_.specific;
      return;
    }
    if (verdict == Verdict::nothing) {
      ++counts.sass;
      return;
    }
    result_.kernels.total += outcome.kernels;
    result_.variables.total += outcome.variables;
    raise(result_.needs_driver, outcome.judgement.needs_driver);
    if (verdict == Verdict::jit) {
      ++counts.jit;
      ++counts.linked_at_load;
      result_.kernels.covered += outcome.kernels - std::min(outcome.kernels, outcome.unlaunchable);
      if (!variables_only) ++with_kernels_.fitting;
      if (census_ != nullptr) add_to(got_, outcome.got);
      return;
    }
    const bool unknown = verdict == Verdict::unknown;
    ++(unknown ? counts.unknown : counts.uncovered);
    for (const std::string& name : waived_of_links_) waivers_.leave_open(name, *device_.capability);
    failures_.add({outcome.judgement.code, outcome.judgement.numbered, unknown, outcome.judgement.reason,
                   FailureCause::image, mend_link(outcome, outcome.judgement)},
                  outcome.kernel, outcome.kernel.empty() ? outcome.variable : std::string(), outcome.subject);
  }

  // What the device link makes serves the device, once it is made for it.
  Fix mend_link(const LinkJudge::Outcome& outcome, Judgement judgement) const {
    const auto linked = linked_.find(outcome.subject.where);
    if (linked == linked_.end()) return {};
    if (judgement.verdict == Verdict::nothing) judgement.verdict = Verdict::uncovered;
    Fix fix = find_fix({linked->second, device_, policy_.judge, policy_.scope == Scope::library}, judgement);
    for (Remedy& way : fix.ways)
      if (way.toolkits) build_too(way, links_.archs_of_objects(outcome.link));
    if (!outcome.change.empty()) fix.build_nothing(outcome.change);
    return fix;
  }

  // PTX is in the objects, which may be elsewhere.
  Fix add_ptx_to_link(const LinkJudge::Outcome& outcome) const {
    if (links_.absent_ids(outcome.link).empty()) return mend_link(outcome, {});
    Fix fix;
    fix.change =
        "verify the program or library that it is linked into: PTX is in its objects, not in what 'nvcc "
        "-dlink' makes";
    return fix;
  }

  // A library that chooses among its fat binaries hangs on none of them.
  void add_other_order(const DeviceObject& object, const FatbinCode& code, const Judgement& judgement) {
    if (policy_.scope == Scope::library) return;
    const auto text = other_order(code, device_, policy_.judge, judgement);
    if (!text) return;
    if (!result_.other_order) result_.other_order = OtherOrder{0, where(object, code.fatbin), *text};
    ++result_.other_order->fatbins;
  }

  // Not asked of this device; with scope library none is.
  void add_for_others(const DeviceObject& object, const FatbinCode& code, const Judgement& judgement) {
    const auto waived = [&](const KernelName& kernel) {
      return waivers_.waive(kernel.name, *device_.capability);
    };
    if (!code.kernels.empty() && std::all_of(code.kernels.begin(), code.kernels.end(), waived)) return;
    const bool first = !result_.for_others;
    add_for_others(subject_of(object, code), code.kernels.empty() ? std::string() : code.kernels.front().name,
                   first ? fixes_.find(code, judgement) : Fix{});
  }

  void add_for_others(const LinkJudge::Subject& subject, const std::string& kernel, const Fix& fix) {
    if (policy_.scope == Scope::library) return;
    if (!result_.for_others) result_.for_others = ForOthers{0, subject.where, subject.found, kernel, fix};
    ++result_.for_others->fatbins;
  }

  // On what driver the update for one that does not know the device has to end.
  void add_needs(const FatbinCode& code, const Judgement& judgement) {
    // PTX by itself: of another arch, the same compiler makes it of the same ISA.
    const auto image = judgement.image    ? judgement.image
                       : judgement.sooner ? std::optional<std::size_t>(0)
                                          : std::nullopt;
    if (image) raise(result_.needs_driver, driver_for(code.images[*image]));
  }

  // Returns whether the image that is taken holds any of the kernels.
  bool add_kernels(const DeviceObject& object, const FatbinCode& code, std::size_t taken,
                   const std::optional<std::size_t>& link) {
    KernelGaps gaps = compare_kernels(code, taken);
    const bool any_there = code.kernels.empty() || gaps.missing.size() < code.kernels.size();
    result_.kernels.covered += code.kernels.size() - gaps.missing.size();
    std::string image = image_name(code.images[taken].entry);
    if (link) {
      if (policy_.scope == Scope::fatbin) registered_.take_linked(*link, object, code, taken);
      if (gaps.any() || !gaps.idle.empty())
        link_judge_.add_gaps(*link, subject_of(object, code), code.images[taken].entry, std::move(gaps));
      return any_there;
    }
    if (policy_.scope == Scope::fatbin) registered_.take(object, code, taken, image, gaps);
    if (gaps.any()) add_gaps(std::move(gaps), subject_of(object, code), image);
    return any_there;
  }

  void add_registered(RegisteredNames::Finding finding) {
    add_unnamed(finding.image, finding.unnamed);
    result_.kernels.total -= std::min(result_.kernels.total, finding.never_launched);
    add_gaps({std::move(finding.kernels), {}, std::move(finding.missing)}, finding.subject, finding.image);
    result_.kernels.covered -= std::min(result_.kernels.covered, finding.in_image);
    result_.kernels.total += finding.in_parts;
    add_unregistered(std::move(finding.names));
  }

  void add_unregistered(RegisteredNames::Unregistered names) {
    const auto seen_by_nvcc = [](const std::string& lacks) {
      return "nvcc registers what it sees for the last architecture of its list, and the " + lacks +
             " image of the same fat binary lacks it";
    };
    for (auto& [lacks, variables] : names.variables)
      add_missing({kInvalidSymbol, true, false,
                   "host code does not register it, so a use fails on every device: " + seen_by_nvcc(lacks),
                   FailureCause::image, lacking(lacks)},
                  true, std::move(variables), result_.variables.unregistered, names.subject);
    for (auto& [lacks, kernels] : names.kernels)
      add_missing(
          {kInvalidDeviceFunction, true, false,
           "host code does not register it, so a launch fails on every device: " + seen_by_nvcc(lacks),
           FailureCause::image, lacking(lacks)},
          false, std::move(kernels), result_.kernels.unlaunchable, names.subject);
  }

  void add_gaps(KernelGaps gaps, const LinkJudge::Subject& subject, const std::string& image) {
    add_gaps(
        std::move(gaps), subject, image, lacking(image),
        "the " + image +
            " image that this device takes lacks it; another image of the same fat binary has it",
        "it does no work in the " + image + " image that this device takes; another image holds real code");
  }

  void add_gaps(KernelGaps gaps, const LinkJudge::Subject& subject, const std::string& image, const Fix& fix,
                const std::string& missing, const std::string& hollow) {
    const Cause lacks{kSymbolNotFound, true, false, missing, FailureCause::image, fix};
    add_missing(lacks, false, std::move(gaps.missing), result_.kernels.missing, subject);
    add_missing(lacks, true, std::move(gaps.variables), result_.variables.missing, subject);
    remove_waived(gaps.hollow);
    if (!gaps.hollow.empty() && policy_.hollow != HollowPolicy::off) {
      fixes_.note_hollow(image);
      if (policy_.hollow == HollowPolicy::error)
        failures_.add({0, true, false, hollow, FailureCause::hollow, fix}, gaps.hollow.front(), {}, subject);
      auto& all = result_.kernels.hollow;
      all.insert(all.end(), gaps.hollow.begin(), gaps.hollow.end());
    }
  }

  // `all`: those that fail of this cause, of the whole file.
  void add_missing(const Cause& cause, bool are_variables, std::vector<std::string> names,
                   std::vector<std::string>& all, const LinkJudge::Subject& subject) {
    remove_waived(names);
    if (names.empty()) return;
    failures_.add(cause, are_variables ? std::string() : names.front(),
                  are_variables ? names.front() : std::string(), subject);
    all.insert(all.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
  }

  void remove_waived(std::vector<std::string>& names) {
    names.erase(
        std::remove_if(names.begin(), names.end(),
                       [&](const std::string& name) { return waivers_.waive(name, *device_.capability); }),
        names.end());
  }

  const DeviceClass& stated_;
  const KnownDevices known_;  // the same, on a driver that knows them
  const Device& device_;
  const VerifyPolicy& policy_;
  Waivers& waivers_;
  LibraryCensus* census_;
  KernelSum got_;  // with scope library
  const DeviceLinks& links_;
  LinkJudge link_judge_;
  RegisteredNames registered_;
  SharedStubs& stubs_;
  std::set<SharedStubs::Place> for_others_;
  std::set<std::string> shared_;  // of these, where what others share with it stands
  bool untold_links_ = false;
  DeviceResult result_;
  FailuresByCause failures_;  // of the result
  DeviceFixes fixes_;
  std::set<std::string> waived_of_links_;     // kernels and variables
  std::map<std::string, FatbinCode> linked_;  // what device links made, by where it stands
  struct {
    int code = kNoKernelImage;
    bool numbered = true;
    Fix fix;    // what would make it one for this device
  } specific_;  // the first fat binary for other devices
  struct {
    std::uint64_t total = 0, specific = 0, fitting = 0;
  } with_kernels_;  // fat binaries
};

DeviceJudge::DeviceJudge(const DeviceClass& devices, const VerifyPolicy& policy, Waivers& waivers,
                         const DeviceLinks& links, HostNames& host_names, SharedStubs& stubs,
                         LibraryCensus* census)
    : state_(std::make_unique<State>(devices, policy, waivers, links, host_names, stubs, census)) {}
DeviceJudge::~DeviceJudge() = default;
DeviceJudge::DeviceJudge(DeviceJudge&&) noexcept = default;

void DeviceJudge::add(const DeviceObject& object, const FatbinCode& code, const LinkRole* role) {
  state_->add(object, code, role);
}

DeviceResult DeviceJudge::finish(const std::vector<ExpectedImage>& held, bool whole,
                                 const std::vector<std::string>& runtime_code, const BareImages& bare,
                                 RuntimeUse& runtime, DriverFunctions& functions) {
  return state_->finish(held, whole, runtime_code, bare, runtime, functions);
}

}  // namespace archguard
