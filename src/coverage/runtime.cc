#include "coverage/runtime.h"

#include <algorithm>

#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/fix.h"

namespace archguard {
namespace {

std::string found_text(const RuntimeUse::Need& need) {
  const std::string runtime = "the runtime of CUDA " + to_string(need.toolkit);
  switch (need.link) {
    case RuntimeUse::Link::needed:
      return need.library + " among the libraries that it needs";
    case RuntimeUse::Link::to_come:
      return "objects to be linked with " + runtime + " or newer";
    case RuntimeUse::Link::held:
    case RuntimeUse::Link::elsewhere:
      break;
  }
  return runtime + ", linked in";
}

// What a newer driver mends as well: none of it happens, since the runtime fails first.
bool is_of_driver(const Failure& failure) {
  return !failure.unknown && (failure.code == kUnsupportedPtxVersion || failure.code == kInvalidKernelImage);
}

// A newer driver, or a build whose runtime this driver serves; what runs but for the driver runs then.
Fix find_runtime_fix(const DeviceResult& result, const Device& device, const VerifyPolicy& policy,
                     const std::vector<KindOfContainer>& kinds, Version runtime) {
  Remedy update, build;
  update.driver = result.needs_driver;
  const auto toolkit = newest_toolkit_for({*device.capability}, device.driver_cuda);
  if (toolkit) build.toolkits = ToolkitRange{*toolkit, *toolkit};
  build.other_library = policy.scope == Scope::library;
  Fix fix;
  const auto branch = driver_branch_of(*result.needs_driver);
  const auto last = last_driver_branch_for(*device.capability);
  if (!last || (branch && *branch <= *last)) fix.ways.push_back(update);
  const bool has_sass = toolkit && newest_sass_for(find_toolkit(*toolkit)->archs, *device.capability);
  // Of another build of a library it is not known whether it holds PTX.
  if (has_sass && policy.judge.environment.forces_jit.empty()) fix.ways.push_back(build);
  fix.leave_out = fix.ways.empty();
  if (build.other_library) return fix;

  Judgement failed;
  failed.verdict = Verdict::uncovered;
  failed.code = kInsufficientDriver;
  const auto steps = [](const Fix& of) {
    std::size_t all = 0;
    for (const Remedy& way : of.ways)
      all += way.add.size() + way.unset.size() + (way.lz4 ? 1 : 0) + (way.link ? 1 : 0);
    return all;
  };
  const auto names_toolkit = [](const Remedy& way) { return way.toolkits.has_value(); };
  const auto is_driver_alone = [&](const Remedy& way) {
    return way.driver && !names_toolkit(way) && way.add.empty() && way.unset.empty() && !way.lz4 && !way.link;
  };
  bool driver_mends = true, toolkit_mends = true;
  for (const KindOfContainer& kind : kinds) {
    if (!kind.runs) continue;
    Fix own = find_fix({kind.code, device, policy.judge, false, runtime}, failed);
    driver_mends &= std::any_of(own.ways.begin(), own.ways.end(), is_driver_alone);
    toolkit_mends &= std::any_of(own.ways.begin(), own.ways.end(), names_toolkit);
    if (steps(fix) < steps(own) || fix.ways.empty()) fix = std::move(own);  // where it takes more
  }
  const auto fails_others = [&](const Remedy& way) {
    return (!driver_mends && is_driver_alone(way)) || (!toolkit_mends && names_toolkit(way));
  };
  fix.ways.erase(std::remove_if(fix.ways.begin(), fix.ways.end(), fails_others), fix.ways.end());
  fix.leave_out = fix.ways.empty();
  for (Remedy& way : fix.ways) {
    if (way.driver && *way.driver < *result.needs_driver) way.driver = result.needs_driver;
    for (const KindOfContainer& kind : kinds)
      if (way.toolkits) build_too(way, kind.code);
  }
  return fix;
}

std::string runtime_fix_text(const Fix& fix, const DeviceClass& devices, const VerifyPolicy& policy) {
  const std::string text = text_of(fix, devices.device, {}, policy.target);
  if (!devices.may_have_compat) return text;
  return text +
         ", or, where cuda-compat gives programs a newer CUDA than this driver, tell that in the column "
         "driver_cuda of the fleet file";
}

}  // namespace

void RuntimeUse::add(const DeviceObject& object, const ContainerCode& container) {
  if (!object.registers) return;
  if (object_ != &object) registered_.emplace(object);
  object_ = &object;
  if (!registered_->has(container.container)) return;
  for (const Image& image : container.images) {
    const auto toolkit = image.unknown.empty() ? toolkit_of(image) : std::nullopt;
    if (!toolkit) continue;
    const auto [newest, is_new] = toolkits_.try_emplace(&object, *toolkit);
    if (!is_new && newest->second < *toolkit) newest->second = *toolkit;
  }
}

const std::optional<RuntimeUse::Need>& RuntimeUse::need() {
  if (looked_) return need_;
  looked_ = true;
  for (const DeviceObject& object : code_.objects) {
    if (!object.registers || object.containers.empty()) continue;
    const auto library = object.linked ? needed_runtime(object, file_) : std::nullopt;
    const auto made_by = toolkits_.find(&object);
    Need need{{}, library ? Link::needed : object.linked ? Link::held : Link::to_come, {}, &object};
    if (library) need.library = library->name;
    if (library && library->version)
      need.toolkit = *library->version;
    else if (made_by != toolkits_.end())
      need.toolkit = made_by->second;
    else
      continue;
    if (!need_ ||
        lowest_driver_cuda_for_toolkit(need_->toolkit) < lowest_driver_cuda_for_toolkit(need.toolkit))
      need_ = std::move(need);
  }
  return need_;
}

RuntimeUse::Link RuntimeUse::link() {
  if (!searched_ && need_->link == Link::held && !holds_runtime(*need_->object, file_))
    need_->link = Link::elsewhere;
  searched_ = true;
  return need_->link;
}

void judge_runtime(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                   const std::vector<KindOfContainer>& kinds, RuntimeUse& runtime) {
  const std::optional<Version> driver = devices.device.driver_cuda;
  // Without a driver only what already asks for one asks for a little more.
  if (result.containers.total == 0 || (!driver && !result.needs_driver)) return;
  const auto& need = runtime.need();
  if (!need) return;
  const Version floor = lowest_driver_cuda_for_toolkit(need->toolkit);
  if (driver ? floor <= *driver : floor <= *result.needs_driver) return;
  const bool elsewhere = runtime.link() == RuntimeUse::Link::elsewhere;
  if (!driver && elsewhere) return;
  if (!result.needs_driver || *result.needs_driver < floor) result.needs_driver = floor;
  if (!driver) return;
  Failure failure;
  failure.code = kInsufficientDriver;
  if (devices.device.cuda_at_least) {
    if (elsewhere || policy.driver == DriverPolicy::warn) return;
    failure.unknown = true;
    failure.reason = "it has the runtime of CUDA " + to_string(need->toolkit) +
                     "; the driver is newer than any that is known, and offers CUDA " + to_string(*driver) +
                     " at least: the column driver_cuda of the fleet file can tell";
    failure.found = found_text(*need);
    result.failures.push_back(std::move(failure));
    return;
  }
  result.toolkit_ahead = need->toolkit;
  result.runtime_elsewhere = elsewhere;
  const Fix fix = find_runtime_fix(result, devices.device, policy, kinds, need->toolkit);
  result.runtime_fix = runtime_fix_text(fix, devices, policy);
  if (elsewhere || policy.driver == DriverPolicy::warn) return;
  auto& failures = result.failures;
  failures.erase(std::remove_if(failures.begin(), failures.end(), is_of_driver), failures.end());
  failure.reason = "the runtime of CUDA " + to_string(need->toolkit) + " asks for a driver of CUDA " +
                   to_string(floor) + " or newer; this one offers CUDA " + to_string(*driver);
  failure.found = found_text(*need);
  failure.mend = fix;
  failures.insert(failures.begin(), std::move(failure));
}

}  // namespace archguard
