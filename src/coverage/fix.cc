#include "coverage/fix.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/choices.h"
#include "coverage/demanded_names.h"
#include "coverage/device_driver.h"
#include "coverage/fit.h"
#include "coverage/fix_build.h"
#include "coverage/fix_trial.h"
#include "coverage/gcc_modules.h"

// A fix is searched, not looked up: each candidate is applied to what was judged, and judged again. So none
// is offered that the file has already, that the toolkit cannot make, or that leads to another error.

namespace archguard {
namespace {

constexpr std::size_t kMostWays = 2;

// A cubin or PTX by itself, which no build can add another image to.
bool is_bare(const Fatbin& fatbin) {
  return is_image_by_itself(fatbin) || fatbin.bare;
}

std::optional<Version> newest_of(const std::optional<Version>& a, const std::optional<Version>& b) {
  return !a ? b : !b ? a : std::max(*a, *b);
}

// Compiled for linking, and never linked for the device.
bool is_for_linking(const FatbinCode& code) {
  return !code.fatbin.relocatable &&
         std::any_of(code.images.begin(), code.images.end(),
                     [](const Image& image) { return image.code && image.code->relocatable; });
}

bool holds_tile_ir(const FatbinCode& code) {
  return std::any_of(code.images.begin(), code.images.end(),
                     [](const Image& image) { return is_tile_ir(image.entry); });
}

class Search {
 public:
  Search(const FixQuestion& question, const Judgement& judgement)
      : question_(question),
        code_(without_names(question.code, question.excused)),
        failed_(judgement),
        bare_(is_bare(question.code.fatbin)) {
    for (const Image& image : code_.images)
      if (image.unknown.empty()) toolkit_ = newest_of(toolkit_, toolkit_of(image));
  }

  Fix find() {
    Fix fix;
    const JitEnvironment& environment = question_.policy.environment;
    std::vector<std::vector<std::string>> unsets;
    if (!environment.disables_jit.empty()) unsets.push_back({environment.disables_jit});
    if (!environment.forces_jit.empty()) unsets.push_back({environment.forces_jit});
    if (unsets.size() == 2) unsets.push_back({environment.forces_jit, environment.disables_jit});
    for (const auto& unset : unsets) {
      Remedy remedy;
      remedy.unset = unset;
      if (offer(fix, remedy, false)) return fix;
    }
    unsets.insert(unsets.begin(), std::vector<std::string>{});
    for (const bool new_driver : {false, true}) {
      for (const auto& unset : unsets) {
        collect(fix, unset, new_driver);
        if (!fix.ways.empty()) break;
      }
      if (!fix.ways.empty()) break;
    }
    const bool by_demand = failed_.verdict == Verdict::uncovered && failed_.code == 0;
    if (by_demand && fix.ways.empty()) {
      fix.demand = question_.policy.require_sass ? "--require sass" : "--require-ptx";
      if (question_.policy.require_ptx) return fix;
    }
    if (fix.ways.empty() && fix.demand.empty() && is_of_gcc(code_)) fix.change = kOlderTargetOfGcc;
    // An older toolkit costs the rest of the fleet something.
    fix.leave_out = std::all_of(fix.ways.begin(), fix.ways.end(), [&](const Remedy& way) {
      return way.holds.empty() && way.toolkits && (!toolkit_ || way.toolkits->last < *toolkit_);
    });
    return fix;
  }

 private:
  ComputeCapability capability() const { return *question_.device.capability; }

  // ---- the candidates ----

  void collect(Fix& fix, const std::vector<std::string>& unset, bool new_driver) const {
    Remedy base;
    base.unset = unset;
    if (question_.of_others) {
      if (!new_driver) offer(fix, base, true);
      if (failed_.code != kInvalidKernelImage || fix.ways.empty()) offer_library(fix, base, new_driver);
      return;
    }
    if (is_of_gcc(code_)) {
      if (!new_driver) offer(fix, base, true);
      return;
    }
    const bool linked = is_for_linking(code_) && offer(fix, linked_too(base), new_driver);
    const bool sass = offer_any(fix, with_additions(base, toolkit_archs()), new_driver);
    if (!new_driver) offer(fix, base, true);
    Remedy repacked = base;
    repacked.lz4 = true;
    const bool lz4 = repackable() && offer(fix, repacked, new_driver);
    const bool by_jit = !sass && offer_any(fix, with_ptx(base, toolkit_archs()), new_driver);
    const bool by_cubin = !sass && !by_jit && is_of_data() && offer_any(fix, with_cubin(base), new_driver);
    // Where PTX does, another toolkit is worth it for the sake of SASS.
    if (!sass && !lz4 && !linked && !by_cubin) offer_other_toolkit(fix, base, new_driver, by_jit);
    if (!fix.ways.empty() || !is_for_linking(code_)) return;
    offer_any(fix, with_additions(linked_too(base), toolkit_archs()), new_driver);
    if (fix.ways.empty()) offer_any(fix, with_ptx(linked_too(base), toolkit_archs()), new_driver);
    if (fix.ways.empty()) offer_other_toolkit(fix, linked_too(base), new_driver, false);
  }

  // Images that the program hands to the driver itself.
  bool is_of_data() const { return code_.fatbin.bare; }

  static Remedy linked_too(Remedy remedy) {
    remedy.link = true;
    return remedy;
  }

  bool repackable() const { return std::any_of(code_.images.begin(), code_.images.end(), is_zstd); }

  // What the toolkit that made the fat binary can add to it.
  std::vector<Arch> toolkit_archs() const {
    if (!toolkit_) return archs_of_all();
    const Toolkit* toolkit = find_toolkit(*toolkit_);
    return listable(toolkit != nullptr ? *toolkit : newest_known_toolkit());
  }

  // With SASS for the device, first; where PTX is asked for, with that, too.
  std::vector<Remedy> with_additions(const Remedy& base, const std::vector<Arch>& archs) const {
    std::vector<Remedy> candidates;
    const auto sass = newest_sass_for(archs, capability());
    const auto ptx = code_.fatbin.offload ? std::nullopt : ptx_for_the_newest(archs);
    // Who hands PTX to the driver does not hand it a cubin, unless that is what is asked for.
    const bool takes_sass = !bare_ || question_.policy.require_sass ||
                            !std::all_of(code_.images.begin(), code_.images.end(), [](const Image& image) {
                              return image.entry.kind == EntryKind::ptx;
                            });
    const auto candidate = [&](std::vector<Addition> add) {
      candidates.push_back(adding(base, std::move(add)));
    };
    if (question_.policy.require_ptx && ptx) {
      candidate({{*ptx, false, true}});
      if (sass && *sass == *ptx)
        candidate({{*sass, true, true}});
      else if (sass)
        candidate({{*sass, true, false}, {*ptx, false, true}});
    } else if (sass && takes_sass) {
      candidate({{*sass, true, false}});
    }
    return candidates;
  }

  std::vector<Remedy> with_ptx(const Remedy& base, const std::vector<Arch>& archs) const {
    const auto ptx = newest_ptx_for(archs, capability());
    if (!ptx || code_.fatbin.offload) return {};
    return {adding(base, {{*ptx, false, true}})};
  }

  // Beside PTX that is data: where PTX does not help, a cubin may, which the same functions load.
  std::vector<Remedy> with_cubin(const Remedy& base) const {
    const auto sass = newest_sass_for(toolkit_archs(), capability());
    if (!sass) return {};
    return {adding(base, {{*sass, true, false}})};
  }

  Remedy adding(Remedy remedy, std::vector<Addition> add) const {
    remedy.add = std::move(add);
    for (Addition& each : remedy.add) {
      each.by_lto = is_of_ltoir(code_);
      each.lacks_lto = each.by_lto && each.sass && !is_linked_as_is(code_, each.arch);
    }
    remedy.apart = bare_;
    remedy.embedded = is_of_data();
    remedy.offload = code_.fatbin.offload;
    return remedy;
  }

  // Required for future GPUs: PTX of the newest arch that the fat binary has SASS of.
  std::optional<Arch> ptx_for_the_newest(const std::vector<Arch>& archs) const {
    std::optional<Arch> newest;
    for (const Image& image : code_.images) {
      const Arch arch = image.entry.arch;
      if (arch.suffix == Suffix::none && std::find(archs.begin(), archs.end(), arch) != archs.end() &&
          !is_sass_only(arch) && (!newest || *newest < arch))
        newest = arch;
    }
    return newest ? newest : newest_ptx_for(archs, capability());
  }

  void offer_other_toolkit(Fix& fix, const Remedy& base, bool new_driver, bool for_sass) const {
    for (Remedy& remedy : with_other_toolkits(base, new_driver)) {
      const auto archs = listable(*find_toolkit(remedy.toolkits->first));
      std::vector<Remedy> candidates = {remedy};
      for (auto& more : with_additions(remedy, archs)) candidates.push_back(std::move(more));
      if (std::any_of(code_.images.begin(), code_.images.end(), is_zstd))
        for (std::size_t i = 0, plain = candidates.size(); i < plain; ++i) {
          candidates.push_back(candidates[i]);
          candidates.back().lz4 = true;
        }
      for (auto& more : with_ptx(remedy, archs)) candidates.push_back(std::move(more));
      const auto without_sass = [&](const Remedy& candidate) {
        return std::none_of(candidate.add.begin(), candidate.add.end(),
                            [](const Addition& add) { return add.sass; });
      };
      if (for_sass)
        candidates.erase(std::remove_if(candidates.begin(), candidates.end(), without_sass),
                         candidates.end());
      if (offer_any(fix, candidates, new_driver)) return;
    }
  }

  // The toolkits to try, the nearest first: those that make every arch of the fat binary, then one that does
  // not.
  std::vector<Remedy> with_other_toolkits(const Remedy& base, bool new_driver) const {
    const auto driver = new_driver ? last_driver_cuda_for(capability()) : newest_driver(question_.device);
    auto range = toolkits_with_sass_for(capability(), driver);
    if (!range) {
      const auto newest = newest_toolkit_for({capability()}, driver);
      if (!newest) return {};
      range = ToolkitRange{*newest, *newest};
    }
    const bool newer = toolkit_ && *toolkit_ < range->first;
    std::optional<ToolkitRange> whole;
    for (const Toolkit& toolkit : known_toolkits()) {
      if (toolkit.version < range->first || range->last < toolkit.version) continue;
      if (!not_made(code_, toolkit).empty()) continue;
      if (!whole) whole = ToolkitRange{toolkit.version, toolkit.version};
      whole->last = toolkit.version;
    }
    std::vector<Remedy> remedies;
    const auto add = [&](ToolkitRange toolkits, std::vector<Arch> drop) {
      remedies.push_back(base);
      remedies.back().toolkits = toolkits;
      remedies.back().drop = std::move(drop);
    };
    if (whole && newer) add(*whole, {});
    if (whole)
      add(newer ? ToolkitRange{whole->first, whole->first} : ToolkitRange{whole->last, whole->last}, {});
    const Version nearest = newer ? range->first : range->last;
    if (!whole || (!newer && whole->last != nearest))
      add({nearest, nearest}, not_made(code_, *find_toolkit(nearest)));
    if (const auto newest = newest_with_ptx_for(driver))
      add({*newest, *newest}, not_made(code_, *find_toolkit(*newest)));
    return remedies;
  }

  // Whose PTX this driver compiles.
  static std::optional<Version> newest_with_ptx_for(std::optional<Version> driver) {
    std::optional<Version> newest;
    for (const Toolkit& toolkit : known_toolkits())
      if (driver && driver_takes_ptx(toolkit.ptx_isa, *driver) == Fit::yes &&
          lowest_driver_cuda_for_toolkit(toolkit.version) <= *driver)
        newest = toolkit.version;
    return newest;
  }

  void offer_library(Fix& fix, const Remedy& base, bool new_driver) const {
    const auto driver = new_driver ? last_driver_cuda_for(capability()) : newest_driver(question_.device);
    const auto range = toolkits_with_sass_for(capability(), driver);
    if (!range) return;
    Remedy remedy = base;
    remedy.toolkits = range;
    for (const Arch arch : archs_of_all()) {
      const auto made =
          std::any_of(known_toolkits().begin(), known_toolkits().end(), [&](const Toolkit& toolkit) {
            return range->first <= toolkit.version && toolkit.version <= range->last &&
                   has_arch(toolkit, arch);
          });
      if (arch.suffix == Suffix::none && made && sass_fits(arch, capability()) == Fit::yes)
        remedy.holds.push_back(arch);
    }
    offer(fix, remedy, new_driver);
  }

  // ---- trying them ----

  bool offer_any(Fix& fix, const std::vector<Remedy>& candidates, bool new_driver) const {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Remedy& candidate) { return offer(fix, candidate, new_driver); });
  }

  // Adds the remedy where it mends; with a newer driver, where that is allowed and needed.
  bool offer(Fix& fix, Remedy remedy, bool new_driver) const {
    if (!trial_.mends(remedy)) {
      if (!new_driver || !question_.device.driver_cuda) return false;
      const auto driver = trial_.driver_for(remedy);
      if (!driver) return false;
      remedy.driver = driver;
      if (!trial_.mends(remedy)) return false;
    }
    if (fix.ways.size() < kMostWays) fix.ways.push_back(std::move(remedy));
    return true;
  }

  const FixQuestion& question_;
  const FatbinCode code_;
  const Judgement& failed_;
  const bool bare_;
  std::optional<Version> toolkit_;  // that made the fat binary, the newest of its images'
  const FixTrial trial_{question_, code_, toolkit_};
};

}  // namespace

Fix find_fix(const FixQuestion& question, const Judgement& judgement) {
  if (!judgement.mend.empty() && !question.of_others) {
    Fix change;
    change.change = judgement.mend;
    return change;
  }
  // What a newer driver is known to take is told by `needs_driver`.
  if (judgement.verdict != Verdict::unknown || judgement.needs_driver)
    return Search(question, judgement).find();
  Fix fix;
  if (question.code.fatbin.bare && holds_tile_ir(question.code)) {
    fix.change = "verify the cubin that nvcc -tilecubin makes of it, and let the program load that";
    return fix;
  }
  // What is not linked may or may not run; linked, it does. Nor is Tile IR judged; a cubin is.
  if (is_for_linking(question.code) || holds_tile_ir(question.code)) fix = Search(question, judgement).find();
  if (!fix.ways.empty()) return fix;
  fix = {};
  JudgePolicy policy = question.policy;
  policy.require_driver = false;
  if (question.code.fatbin.bare) {
    policy.require_ptx = false;
    for (const FatbinCode& choice : choices_of(question.code)) {
      const Verdict verdict = judge(choice, question.device, policy).verdict;
      fix.name_driver |= verdict == Verdict::sass || verdict == Verdict::jit;
    }
    return fix;
  }
  fix.name_driver = judge(question.code, question.device, policy).verdict != Verdict::unknown;
  return fix;
}

}  // namespace archguard
