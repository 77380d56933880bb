#include "coverage/fix_trial.h"

#include <algorithm>
#include <utility>

#include "compat/driver.h"
#include "compat/toolkit.h"
#include "coverage/choices.h"
#include "coverage/demanded_names.h"
#include "coverage/fix_build.h"
#include "image/builtin_functions.h"

namespace archguard {
namespace {

bool has_image(const std::vector<Image>& images, EntryKind kind, Arch arch) {
  return std::any_of(images.begin(), images.end(), [&](const Image& image) {
    return image.entry.kind == kind && image.entry.arch == arch && image.unknown.empty();
  });
}

}  // namespace

std::vector<FixTrial::Build> FixTrial::builds_of(const Remedy& remedy) {
  std::vector<Build> builds;
  for (const Arch arch : remedy.holds)
    for (const Toolkit& toolkit : known_toolkits())
      if (remedy.toolkits->first <= toolkit.version && toolkit.version <= remedy.toolkits->last &&
          has_arch(toolkit, arch))
        builds.push_back({toolkit.version, arch});
  if (!builds.empty()) return builds;
  if (!remedy.toolkits) return {{std::nullopt, std::nullopt}};
  return {{remedy.toolkits->first, std::nullopt}, {remedy.toolkits->last, std::nullopt}};
}

bool FixTrial::mends(const Remedy& remedy) const {
  const auto driver = remedy.driver ? remedy.driver : question_.device.driver_cuda;
  const auto newest = driver ? driver : last_driver_cuda_for(*question_.device.capability);
  const auto builds = builds_of(remedy);
  return std::all_of(builds.begin(), builds.end(), [&](const Build& build) {
    const auto needs = needs_of(remedy, build, driver);
    return needs && (!newest || *needs <= *newest);
  });
}

std::optional<Version> FixTrial::driver_for(const Remedy& remedy) const {
  Version lowest;
  for (const Build& build : builds_of(remedy)) {
    const auto needs = needs_of(remedy, build, std::nullopt);
    if (!needs) return std::nullopt;
    lowest = std::max(lowest, *needs);
  }
  const auto last = last_driver_cuda_for(*question_.device.capability);
  if (last && *last < lowest) return std::nullopt;
  return lowest;
}

std::optional<Version> FixTrial::needs_of(const Remedy& remedy, const Build& build,
                                          std::optional<Version> driver) const {
  FatbinCode code = code_;
  if (build.only) code.images.clear();
  const auto toolkit = build.toolkit ? build.toolkit : toolkit_;
  if (build.toolkit) {
    if (*build.toolkit < kFirstCompressMode && !remedy.lz4 && asks_for_zstd(code)) return std::nullopt;
    rebuild(code.images, *find_toolkit(*build.toolkit));
  }
  if (remedy.link)
    for (Image& image : code.images)
      if (image.code) image.code->relocatable = false;
  std::vector<Addition> add = remedy.add;
  if (build.only) add = {{*build.only, true, false}};
  for (const Addition& each : add)
    for (const EntryKind kind : {EntryKind::sass, EntryKind::ptx}) {
      if (!(kind == EntryKind::sass ? each.sass : each.ptx)) continue;
      const bool refused = build.toolkit && !has_arch(*find_toolkit(*build.toolkit), each.arch);
      if (refused || has_image(code.images, kind, each.arch)) return std::nullopt;
      Image image = build.only ? Image{} : like();
      if (image.code && remedy.link) image.code->relocatable = false;
      code.images.push_back(made(std::move(image), kind, each.arch, toolkit));
    }
  if (remedy.lz4)
    for (Image& image : code.images)
      if (is_zstd(image)) image.entry.compression = Compression::lz4;
  Device device = question_.device;
  device.driver_cuda = driver;
  JudgePolicy policy = question_.policy;
  policy.require_driver = false;
  for (const std::string& variable : remedy.unset)
    for (std::string* set : {&policy.environment.forces_jit, &policy.environment.disables_jit})
      if (*set == variable) set->clear();
  if (!code_.fatbin.bare) return needs_of(code, device, policy, build);
  if (policy.require_ptx && !holds_plain_ptx_as_data(code)) return std::nullopt;
  policy.require_ptx = false;
  std::optional<Version> least;
  for (const FatbinCode& choice : choices_of(code)) {
    const auto needs = needs_of(choice, device, policy, build);
    if (needs && (!least || *needs < *least)) least = needs;
  }
  return least;
}

std::optional<Version> FixTrial::needs_of(const FatbinCode& code, const Device& device,
                                          const JudgePolicy& policy, const Build& build) const {
  const Judgement judgement = judge(code, device, policy);
  if (judgement.verdict != Verdict::sass && judgement.verdict != Verdict::jit) return std::nullopt;
  if (!holds_all(code, *judgement.image)) return std::nullopt;

  Version needs = judgement.needs_driver.value_or(Version{});
  const auto runtime = question_.runtime && build.toolkit ? build.toolkit : question_.runtime;
  // Of PTX its ISA decides, whatever compiler says that it wrote it.
  const auto of_image =
      judgement.verdict == Verdict::sass ? toolkit_of(code.images[*judgement.image]) : std::nullopt;
  for (const auto& version : {runtime, of_image})
    if (version) needs = std::max(needs, lowest_driver_cuda_for_toolkit(*version));
  return needs;
}

Image FixTrial::like() const {
  const Image* like = nullptr;
  for (const Image& image : code_.images)
    if (image.code && (like == nullptr || (code_.fatbin.bare && like->code->relocatable))) like = &image;
  Image image = like == nullptr ? Image{} : *like;
  if (!image.code) return image;
  for (const Image& each : code_.images) {  // the same kernels take and call the same everywhere
    if (!each.code) continue;
    image.code->parameters = std::max(image.code->parameters, each.code->parameters);
    if (const auto& call = each.code->newest_call) add_call(image.code->newest_call, call->name);
  }
  return image;
}

}  // namespace archguard
