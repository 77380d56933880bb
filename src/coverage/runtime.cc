#include "coverage/runtime.h"

#include <algorithm>
#include <utility>

#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/device_driver.h"
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
  return runtime + (need.told_by_text ? " or newer" : "") + ", linked in";
}

// Error 35 of `driver`, for messages, which offers that CUDA.
Failure refusal(const RuntimeUse::Need& need, const std::string& driver, Version driver_cuda) {
  Failure failure;
  failure.code = kInsufficientDriver;
  failure.reason = "the runtime of CUDA " + to_string(need.toolkit) + " needs a driver of CUDA " +
                   to_string(lowest_driver_cuda_for_toolkit(need.toolkit)) + " or newer; " + driver +
                   " offers CUDA " + to_string(driver_cuda);
  failure.found = found_text(need);
  return failure;
}

bool driver_serves(Version driver_cuda, Version toolkit) {
  return lowest_driver_cuda_for_toolkit(toolkit) <= driver_cuda;
}

bool is_of_driver(int code) {
  return code == kUnsupportedPtxVersion || code == kInvalidKernelImage;
}

// A newer driver, or a build whose runtime this driver supports; what runs but for the driver runs then.
Fix find_runtime_fix(const DeviceResult& result, const Device& device, const VerifyPolicy& policy,
                     const std::vector<KindOfFatbin>& kinds, Version runtime) {
  Remedy update, build;
  update.driver = result.needs_driver;
  const auto toolkit = newest_toolkit_for({*device.capability}, newest_driver(device));
  if (toolkit) build.toolkits = ToolkitRange{*toolkit, *toolkit};
  build.other_library = policy.scope == Scope::library;
  Fix fix;
  if (may_ever_offer(*device.capability, *result.needs_driver)) fix.ways.push_back(update);
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
  const auto is_older = [&](const Fix& a, const Fix& b) {
    const auto way_of = [&](const Fix& of) {
      return std::find_if(of.ways.begin(), of.ways.end(), names_toolkit);
    };
    const auto of_a = way_of(a), of_b = way_of(b);
    return of_a != a.ways.end() && of_b != b.ways.end() && of_a->toolkits->last < of_b->toolkits->last;
  };
  bool driver_mends = true, toolkit_mends = true;
  for (const KindOfFatbin& kind : kinds) {
    if (!kind.runs) continue;
    Fix own = find_fix({kind.code, device, policy.judge, false, runtime}, failed);
    driver_mends &= std::any_of(own.ways.begin(), own.ways.end(), is_driver_alone);
    toolkit_mends &= std::any_of(own.ways.begin(), own.ways.end(), names_toolkit);
    // Where it takes more, or an older toolkit.
    if (steps(fix) < steps(own) || fix.ways.empty() || (steps(fix) == steps(own) && is_older(own, fix)))
      fix = std::move(own);
  }
  const auto fails_others = [&](const Remedy& way) {
    return (!driver_mends && is_driver_alone(way)) || (!toolkit_mends && names_toolkit(way));
  };
  fix.ways.erase(std::remove_if(fix.ways.begin(), fix.ways.end(), fails_others), fix.ways.end());
  for (Remedy& way : fix.ways) {
    if (way.driver && *way.driver < *result.needs_driver) way.driver = result.needs_driver;
    for (const KindOfFatbin& kind : kinds)
      if (way.toolkits) build_too(way, kind.code);
  }
  // What an older toolkit does not make may have served other devices.
  fix.leave_out = fix.ways.empty() || std::any_of(fix.ways.begin(), fix.ways.end(),
                                                  [](const Remedy& way) { return !way.drop.empty(); });
  return fix;
}

std::string runtime_fix_text(const Fix& fix, const DeviceClass& devices, const VerifyPolicy& policy,
                             Version needed) {
  const std::string text = text_of(fix, devices.device, {}, policy.target);
  if (!devices.may_have_compat || !may_ever_offer(*devices.device.capability, needed)) return text;
  return text +
         ", or, where cuda-compat gives programs a newer CUDA than this driver, tell that in the column "
         "driver_cuda of the fleet file";
}

}  // namespace

void RuntimeUse::add(const DeviceObject& object, const FatbinCode& fatbin) {
  if (object_ != &object) registered_.emplace(object);
  object_ = &object;
  // What clang's offload driver links of an object registers with the runtime, where it is CUDA's.
  const bool to_register = fatbin.fatbin.for_runtime && !object.linked && !fatbin.kernels.empty();
  if (!to_register && !registered_->has(fatbin.fatbin)) return;
  facts_[&object].to_register |= to_register;
  for (const Image& image : fatbin.images) {
    const auto toolkit = image.unknown.empty() ? toolkit_of(image) : std::nullopt;
    if (!toolkit) continue;
    auto& newest = facts_[&object].made_by;
    newest = std::max(newest, toolkit);
  }
}

std::optional<RuntimeUse::Need> RuntimeUse::need_beyond(Version driver_cuda) {
  std::optional<Need> most;
  for (const DeviceObject& object : code_.objects)
    if (!object.fatbins.empty() && (object.linked || object.registers || facts_[&object].to_register))
      ask(object, facts_[&object], driver_cuda, most);
  return most;
}

void RuntimeUse::ask(const DeviceObject& object, Facts& facts, Version driver_cuda,
                     std::optional<Need>& most) {
  const auto note = [&](Need need) {
    if (driver_serves(driver_cuda, need.toolkit)) return;
    const auto rank = [](const Need& of) {  // what is certain first
      return std::make_pair(of.link != Link::elsewhere, lowest_driver_cuda_for_toolkit(of.toolkit));
    };
    if (!most || rank(*most) < rank(need)) most = std::move(need);
  };
  const std::optional<Version>& made_by = facts.made_by;
  if (!object.linked) {
    if (made_by) note({*made_by, Link::to_come});
    return;
  }
  const auto& library = library_of(object, facts);
  if (library && (library->version || made_by))
    note({library->version ? *library->version : *made_by, Link::needed, library->name});
  // To search a file costs most: only where what it may tell is more than this driver supports.
  const bool made_ahead = !library && made_by && !driver_serves(driver_cuda, *made_by);
  if (!made_ahead && driver_serves(driver_cuda, newest_release_told())) return;
  const auto& held = held_by(object, facts);
  if (held && held->at_least && (library || !made_by || *made_by < *held->at_least))
    note({*held->at_least, Link::held, {}, true});
  else if (made_ahead && (held || object.registers))
    note({*made_by, held ? Link::held : Link::elsewhere});
}

const std::optional<RuntimeLibrary>& RuntimeUse::library_of(const DeviceObject& object, Facts& facts) {
  if (!facts.looked) facts.library = needed_runtime(object, file_);
  // Linkers may leave the names of libraries that nothing is called of.
  if (!facts.looked && facts.library && !object.registers && !calls_runtime(object, file_))
    facts.library.reset();
  facts.looked = true;
  return facts.library;
}

const std::optional<HeldRuntime>& RuntimeUse::held_by(const DeviceObject& object, Facts& facts) {
  if (!facts.searched) facts.held = held_runtime(object, file_);
  facts.searched = true;
  return facts.held;
}

void judge_runtime(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                   const std::vector<KindOfFatbin>& kinds, RuntimeUse& runtime) {
  const std::optional<Version> stated = devices.device.driver_cuda, driver = newest_driver(devices.device);
  // Without a driver only what already asks for one asks for a little more, or for more than the device has.
  const bool any_code = result.fatbins.total != 0 || result.embedded.total != 0;
  if (!any_code || (!driver && !result.needs_driver)) return;
  // Without one stated, what the file needs so far, or the last of the device where that is less.
  const Version served = !driver                          ? *result.needs_driver
                         : stated || !result.needs_driver ? *driver
                                                          : std::min(*driver, *result.needs_driver);
  const auto need = runtime.need_beyond(served);
  if (!need) return;
  const Version floor = lowest_driver_cuda_for_toolkit(need->toolkit);
  const bool elsewhere = need->link == RuntimeUse::Link::elsewhere;
  const bool is_enough = !stated && (!driver || floor <= *driver);
  if (is_enough && elsewhere) return;
  if (!result.needs_driver || *result.needs_driver < floor) result.needs_driver = floor;
  if (is_enough) return;
  if (devices.device.cuda_at_least) {
    if (elsewhere || policy.driver == DriverPolicy::warn) return;
    Failure failure;
    failure.code = kInsufficientDriver;
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
  result.runtime_fix = runtime_fix_text(fix, devices, policy, *result.needs_driver);
  if (elsewhere || policy.driver == DriverPolicy::warn) return;
  // What a newer driver mends as well: none of it happens, since the runtime fails first.
  auto& failures = result.failures;
  const auto is_later = [](const Failure& each) { return is_of_driver(each.code) && !each.sooner; };
  failures.erase(std::remove_if(failures.begin(), failures.end(), is_later), failures.end());
  result.embedded.comes_later = is_of_driver(result.embedded.code) && result.embedded.needs_driver;
  Failure failure = refusal(
      *need, stated ? "this one" : "the last driver of " + to_string(*devices.device.capability), *driver);
  failure.mend = fix;
  failures.insert(failures.begin(), std::move(failure));
}

std::optional<Failure> refused_by_runtime(DeviceResult& result, const Device& stated,
                                          const VerifyPolicy& policy, RuntimeUse& runtime) {
  const auto need = stated.cuda_at_least ? std::nullopt : runtime.need_beyond(*stated.driver_cuda);
  const auto& failures = result.failures;
  const bool any_said = std::any_of(failures.begin(), failures.end(),
                                    [](const Failure& each) { return each.code == kInsufficientDriver; });
  if (!need) {
    if (!any_said) result.toolkit_ahead.reset();  // noted of the device's last driver, and this one serves it
    return std::nullopt;
  }
  const bool elsewhere = need->link == RuntimeUse::Link::elsewhere;
  result.toolkit_ahead = need->toolkit;
  result.runtime_elsewhere = elsewhere;
  if (elsewhere || policy.driver == DriverPolicy::warn) return std::nullopt;
  return refusal(*need, "this one", *stated.driver_cuda);
}

}  // namespace archguard
