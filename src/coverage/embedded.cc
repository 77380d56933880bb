#include "coverage/embedded.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compat/rules.h"
#include "coverage/choices.h"

namespace archguard {
namespace {

constexpr std::size_t kNamesShown = 8;
constexpr int kUncertain = 10, kCertain = 20;  // beyond any nearness()

// How near a failure is to running: what a newer driver or another environment mends comes first.
int nearness(const Judgement& judgement) {
  if (judgement.verdict == Verdict::unknown) return 4;
  if (judgement.code == kUnsupportedPtxVersion || judgement.code == kInvalidKernelImage ||
      judgement.code == kJitDisabled)
    return 3;
  if (judgement.verdict == Verdict::specific) return 0;
  return judgement.code == kNoKernelImage ? 1 : 2;
}

bool image_runs(const Judgement& judgement) {
  return judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
}

class EmbeddedJudge {
 public:
  EmbeddedJudge(const BareImages& images, const Device& device, const JudgePolicy& policy, bool library)
      : images_(images), device_(device), policy_(policy), library_(library) {
    JudgePolicy alone = policy;
    alone.require_ptx = false;  // asked of all of them together
    for (const FatbinCode& kind : images.kinds()) judgements_.push_back(judge(kind, device, alone));
  }

  EmbeddedResult judge_all() {
    const auto& items = images_.items();
    std::vector<std::size_t> all(items.size());
    bool any_but_ltoir = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      all[i] = i;
      const Judgement& judgement = of(i);
      ++result_.total;
      result_.fitting += image_runs(judgement) ? 1 : 0;
      result_.unknown += judgement.verdict == Verdict::unknown ? 1 : 0;
      any_but_ltoir |= entry(i).kind != EntryKind::ltoir;
    }
    result_.ltoir = !items.empty() && !any_but_ltoir;
    if (items.empty()) return std::move(result_);
    if (result_.fitting == 0) {
      const bool functions_run = functions_run_alone();
      result_.may_run = result_.unknown != 0 || functions_run;
      result_.for_others = are_all_for_others();
      fail(all);
      if (functions_run)
        result_.reason +=
            "; others that the file holds run there and have functions alone, so that it may need no kernel";
      return std::move(result_);
    }
    result_.needs_driver = driver_for_all();
    if (policy_.require_ptx &&
        std::none_of(images_.kinds().begin(), images_.kinds().end(),
                     [](const FatbinCode& kind) { return holds_plain_ptx_as_data(kind); })) {
      result_.fitting = 0;
      result_.reason = "none of them is plain PTX, which is required";
      result_.where = items.front().place;
      result_.found = names_of(all);
      Judgement judgement;
      judgement.verdict = Verdict::uncovered;
      say_fix(all, judgement);
      return std::move(result_);
    }
    if (!library_) compare_kernels();
    return std::move(result_);
  }

 private:
  const Judgement& of(std::size_t item) const { return judgements_[images_.items()[item].kind]; }
  const FatbinEntry& entry(std::size_t item) const {
    return images_.kinds()[images_.items()[item].kind].images.front().entry;
  }

  bool is_taken_by_runtime(std::size_t item) const {
    const FatbinCode& kind = images_.kinds()[images_.items()[item].kind];
    return kind.fatbin.offload || is_of_gcc(kind);
  }

  // What the modules need of which some image runs, or would with another driver: each the least of its
  // images, all of them the most. With scope library one module is enough.
  std::optional<Version> driver_for_all() const {
    std::optional<Version> all;
    bool any = false;
    for (const auto& [root, items] : images_.modules()) {
      std::optional<Version> least;
      bool runs = false, on_any = false;
      for (const std::size_t item : items) {
        const Judgement& judgement = of(item);
        if (!image_runs(judgement) && !judgement.needs_driver) continue;
        runs = true;
        on_any |= !judgement.needs_driver;
        if (judgement.needs_driver && (!least || *judgement.needs_driver < *least))
          least = judgement.needs_driver;
      }
      if (!runs) continue;
      if (on_any) least.reset();
      if (!any || (library_ ? less(least, all) : less(all, least))) all = least;
      any = true;
    }
    return all;
  }
  // Nothing: any driver.
  static bool less(const std::optional<Version>& a, const std::optional<Version>& b) {
    return b && (!a || *a < *b);
  }

  bool functions_run_alone() const {
    const auto& kinds = images_.kinds_of_functions();
    return std::any_of(kinds.begin(), kinds.end(), [&](const FatbinCode& kind) {
      return std::any_of(kind.images.begin(), kind.images.end(), [&](const Image& image) {
        return image.entry.kind == EntryKind::sass &&
               sass_fits(image.entry.arch, *device_.capability) == Fit::yes;
      });
    });
  }

  bool are_texts(const std::vector<std::size_t>& items) const {
    return std::all_of(items.begin(), items.end(),
                       [&](std::size_t item) { return entry(item).kind == EntryKind::ptx; });
  }

  // None of these runs: says why.
  void fail(const std::vector<std::size_t>& items) {
    const std::size_t nearest = nearest_of(items);
    Judgement judgement = of(nearest);
    if (judgement.verdict == Verdict::specific)
      judgement.reason = "images with an a or f suffix, none for this device";
    result_.taken_by_runtime =
        std::any_of(items.begin(), items.end(), [&](std::size_t item) { return is_taken_by_runtime(item); });
    if (judgement.code == kNoKernelImage)
      judgement.code = error_where_none_fits(!result_.taken_by_runtime && are_texts(items));
    judgement = as_seen(std::move(judgement));
    if (judgement.needs_driver && less(judgement.needs_driver, driver_for_all()))
      judgement.needs_driver = driver_for_all();
    result_.needs_driver = judgement.needs_driver;
    result_.code = judgement.code;
    result_.reason = judgement.reason;
    result_.where = images_.items()[nearest].place;
    result_.kernel = images_.items()[nearest].kernel;
    result_.found = names_of(items);
    if (result_.may_run) judgement.verdict = Verdict::unknown;
    say_fix(judgement.needs_driver && !library_ ? in_need_of(*judgement.needs_driver, items) : items,
            judgement);
  }

  // Of these, the module that needs the newest driver: what serves it serves the others.
  std::vector<std::size_t> in_need_of(Version driver, const std::vector<std::size_t>& items) const {
    for (const auto& [root, module] : images_.modules()) {
      const bool lower = std::any_of(module.begin(), module.end(), [&](std::size_t item) {
        return of(item).needs_driver ? *of(item).needs_driver < driver : image_runs(of(item));
      });
      const bool just = std::any_of(module.begin(), module.end(),
                                    [&](std::size_t item) { return of(item).needs_driver == driver; });
      if (just && !lower) return module;
    }
    return items;
  }

  std::size_t nearest_of(const std::vector<std::size_t>& items) const {
    return *std::max_element(items.begin(), items.end(),
                             [&](std::size_t a, std::size_t b) { return nearness(of(a)) < nearness(of(b)); });
  }

  // Was one of the images that hold it made for this device, whatever its driver?
  bool is_made_for_device(const BareImages::Kernel& kernel) const {
    return std::any_of(kernel.items.begin(), kernel.items.end(), [&](std::size_t item) {
      const FatbinEntry& image = entry(item);
      const auto fits = [&](Arch arch) {
        const auto of_kind = image.kind == EntryKind::ptx ? ptx_fits : sass_fits;
        return of_kind(arch, *device_.capability) == Fit::yes;
      };
      return fits(image.arch) && std::all_of(image.or_archs.begin(), image.or_archs.end(), fits);
    });
  }

  bool is_told_for_others(const BareImages::Kernel& kernel) const {
    return !kernel.told.empty() &&
           std::none_of(kernel.told.begin(), kernel.told.end(),
                        [&](const ToldArchs& told) { return told.is_for(*device_.capability); });
  }

  // The program launches it on other devices alone.
  bool is_for_others(const BareImages::Kernel& kernel) const {
    return is_told_for_others(kernel) || (kernel.suffixed && !is_made_for_device(kernel));
  }
  bool is_perhaps_for_others(const BareImages::Kernel& kernel) const {
    return kernel.perhaps_suffixed && !is_made_for_device(kernel);
  }

  bool are_all_for_others() const {
    const auto& kernels = images_.kernels();
    return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(),
                                           [&](const auto& each) { return is_for_others(each.second); });
  }

  // Some images run: do they hold the kernels of those that do not?
  void compare_kernels() {
    std::set<std::size_t> seen;  // modules
    std::vector<const std::pair<const std::string, BareImages::Kernel>*> lacking;
    for (const auto& each : images_.kernels()) {
      const auto& items = each.second.items;
      if (std::any_of(items.begin(), items.end(), [&](std::size_t item) { return image_runs(of(item)); }))
        seen.insert(each.second.module);
      else if (!is_for_others(each.second))
        lacking.push_back(&each);
      else
        pass_over(each);
    }
    if (lacking.empty()) return;
    for (const auto* each : lacking) result_.without.push_back(each->first);
    // What is certain comes first, then what a newer driver does not mend.
    const BareImages::Kernel* worst = nullptr;
    int least = 0;
    for (const auto* each : lacking) {
      if (!seen.insert(each->second.module).second) continue;
      const int near = nearness(of(nearest_of(images_.items_of(each->second.module)))) +
                       (is_perhaps_for_others(each->second) ? kUncertain : 0) -
                       (is_taken_by_runtime(each->second.items.front()) ? kCertain : 0);
      if (worst != nullptr && least <= near) continue;
      least = near;
      worst = &each->second;
      result_.kernel = each->first;
    }
    if (worst == nullptr) return doubt(*lacking.front());
    const auto& items = images_.items_of(worst->module);
    const std::string kernel = result_.kernel;
    const auto needs_driver = result_.needs_driver;
    // An image whose kernels are not known may hold these.
    result_.in_doubt = is_perhaps_for_others(*worst) || any_without_names();
    result_.may_run = of(nearest_of(items)).verdict == Verdict::unknown;
    fail(items);
    result_.needs_driver = needs_driver;
    result_.kernel = kernel;
    result_.where = images_.items()[worst->items.front()].place;
    result_.reason += "; what runs there holds other kernels";
  }

  void doubt(const std::pair<const std::string, BareImages::Kernel>& kernel) {
    result_.in_doubt = true;
    result_.kernel = kernel.first;
    result_.where = images_.items()[kernel.second.items.front()].place;
    result_.found = names_of(kernel.second.items);
    result_.reason =
        "images that run there hold other kernels of the same module; the program may launch this one on "
        "other devices alone";
  }

  void pass_over(const std::pair<const std::string, BareImages::Kernel>& kernel) {
    if (result_.elsewhere.empty())
      result_.elsewhere_in =
          names_of(kernel.second.items) + ", " + images_.items()[kernel.second.items.front()].place;
    result_.elsewhere.push_back(kernel.first);
  }

  bool any_without_names() const {
    const auto& items = images_.items();
    for (std::size_t i = 0; i < items.size(); ++i)
      if (items[i].kernel.empty() && of(i).verdict == Verdict::unknown) return true;
    return false;
  }

  void say_fix(const std::vector<std::size_t>& items, const Judgement& judgement) {
    FatbinCode all;
    for (const std::size_t kind : kinds_of(items)) add_choice(all, images_.kinds()[kind]);
    result_.mend = find_fix({all, device_, policy_, library_}, judgement);
    if (result_.ltoir)
      result_.mend.change =
          "--embedded off, if the program links it for the device that it runs on (nvJitLink)";
    result_.fix = text_of(result_.mend, device_, {}, {});
  }

  // In order of appearance.
  std::vector<std::size_t> kinds_of(const std::vector<std::size_t>& items) const {
    std::vector<std::size_t> kinds;
    std::vector<bool> seen(images_.kinds().size());
    for (const std::size_t item : items) {
      const std::size_t kind = images_.items()[item].kind;
      if (!seen[kind]) kinds.push_back(kind);
      seen[kind] = true;
    }
    return kinds;
  }

  std::string names_of(const std::vector<std::size_t>& items) const {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const std::size_t kind : kinds_of(items)) {
      const std::string name = image_name(images_.kinds()[kind].images.front().entry);
      if (seen.insert(name).second) names.push_back(name);
    }
    const std::size_t shown = std::min(names.size(), kNamesShown);
    const std::size_t more = names.size() - shown;
    names.resize(shown);
    return join(names, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
  }

  const BareImages& images_;
  const Device& device_;
  const JudgePolicy& policy_;
  const bool library_;
  std::vector<Judgement> judgements_;  // by kind
  EmbeddedResult result_;
};

}  // namespace

EmbeddedResult judge_embedded(const BareImages& images, const Device& device, const JudgePolicy& policy,
                              bool library) {
  return EmbeddedJudge(images, device, policy, library).judge_all();
}

}  // namespace archguard
