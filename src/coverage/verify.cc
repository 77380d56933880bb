#include "coverage/verify.h"

#include <algorithm>
#include <tuple>

#include "coverage/fix.h"
#include "coverage/runtime.h"

namespace archguard {
namespace {

constexpr std::size_t kCausesMost = 100;

template <class T>
void raise(std::optional<T>& to, const std::optional<T>& value) {
  if (value && (!to || *to < *value)) to = value;
}

ContainerPlace place_of(const DeviceObject& object, const ContainerCode& code) {
  return {code.container.offset, code.container.section, object.member};
}

// One file's answer for one class of devices, container after container.
class DeviceJudge {
 public:
  DeviceJudge(const DeviceClass& devices, const VerifyPolicy& policy, Waivers& waivers)
      : devices_(devices), device_(devices.device), policy_(policy), waivers_(waivers) {}

  void add(const DeviceObject& object, const ContainerCode& code) {
    const Judgement judgement = judge(code, device_, policy_.judge);
    if (judgement.verdict == Verdict::nothing) return;
    ++result_.containers.total;
    const bool variables_only = code.kernels.empty() && !code.variables.empty();
    if (!variables_only) ++with_kernels_.total;
    const bool covered = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
    if (judgement.verdict == Verdict::specific) {
      ++result_.containers.specific;
      if (!variables_only) ++with_kernels_.specific;
      return;
    }
    result_.kernels.total += code.kernels.size();
    result_.variables.total += code.variables.size();
    raise(result_.needs_driver, judgement.needs_driver);
    if (!covered) {
      const bool unknown = judgement.verdict == Verdict::unknown;
      ++(unknown ? result_.containers.unknown : result_.containers.uncovered);
      fail(object, code, judgement.code, unknown, judgement.reason,
           code.kernels.empty() ? std::string() : code.kernels.front().name,
           variables_only ? code.variables.front() : std::string());
      return;
    }
    ++(judgement.verdict == Verdict::sass ? result_.containers.sass : result_.containers.jit);
    const bool any_there = add_kernels(object, code, *judgement.image);
    if (!variables_only && any_there) ++with_kernels_.fitting;
  }

  // `whole`: all of the file was read and understood; else nothing is covered.
  DeviceResult finish(std::optional<Version> toolkit, bool whole, RuntimeUse& runtime) {
    auto& counts = result_.containers;
    // A fat binary of variables alone is no answer to who asks for kernels.
    const bool any_kernels = with_kernels_.total != 0;
    const bool any_fits = any_kernels ? with_kernels_.fitting != 0 : counts.sass + counts.jit != 0;
    const bool all_specific = any_kernels ? with_kernels_.total == with_kernels_.specific
                                          : counts.total != 0 && counts.total == counts.specific;
    if (policy_.scope == Scope::library) {
      if (any_fits)
        forgive_containers();
      else
        forgive_missing_images();
    }
    if (all_specific)
      result_.failures.push_back({kNoKernelImage,
                                  false,
                                  "every container is for other devices only",
                                  {},
                                  "images with an a or f suffix, none for this device",
                                  {},
                                  {}});
    judge_runtime(result_, devices_, policy_, runtime);
    const auto is_unknown = [](const Failure& failure) { return failure.unknown; };
    const bool any_unknown = std::any_of(result_.failures.begin(), result_.failures.end(), is_unknown);
    const bool all_unknown = std::all_of(result_.failures.begin(), result_.failures.end(), is_unknown);
    result_.coverage = !all_unknown            ? Coverage::not_covered
                       : any_unknown || !whole ? Coverage::unknown
                                               : Coverage::covered;
    for (auto* names : {&result_.kernels.missing, &result_.kernels.hollow, &result_.variables.missing}) {
      std::sort(names->begin(), names->end());
      names->erase(std::unique(names->begin(), names->end()), names->end());
    }
    if (result_.coverage != Coverage::covered) result_.fix = fix_for(result_, device_, policy_, toolkit);
    return std::move(result_);
  }

 private:
  // With scope library, what does not fit is the library's own affair: it chooses among its containers.
  void forgive_containers() {
    result_.failures.clear();
    result_.kernels.missing.clear();
    result_.kernels.hollow.clear();
    result_.variables.missing.clear();
  }

  // Where a newer driver, or another environment, would let the library choose an image, the containers that
  // have none for this device are not what fails.
  void forgive_missing_images() {
    auto& failures = result_.failures;
    const auto is_mendable = [](const Failure& failure) {
      return failure.code == kUnsupportedPtxVersion || failure.code == kInvalidKernelImage ||
             failure.code == kJitDisabled;
    };
    const auto lacks_image = [](const Failure& failure) {
      return !failure.unknown && failure.code == kNoKernelImage;
    };
    if (std::any_of(failures.begin(), failures.end(), is_mendable))
      failures.erase(std::remove_if(failures.begin(), failures.end(), lacks_image), failures.end());
  }

  // Returns whether the image that is taken holds any of the kernels.
  bool add_kernels(const DeviceObject& object, const ContainerCode& code, std::size_t taken) {
    KernelGaps gaps = compare_kernels(code, taken);
    const bool any_there = code.kernels.empty() || gaps.missing.size() < code.kernels.size();
    result_.kernels.covered += code.kernels.size() - gaps.missing.size();
    const auto waived = [&](const std::string& name) { return waivers_.waive(name, *device_.capability); };
    for (auto* names : {&gaps.missing, &gaps.hollow, &gaps.variables})
      names->erase(std::remove_if(names->begin(), names->end(), waived), names->end());
    const std::string image = image_name(code.images[taken].entry);
    if (!gaps.missing.empty()) {
      fail(object, code, kInvalidDeviceFunction, false,
           "the " + image +
               " image that this device takes lacks it; another image of the same container has it",
           gaps.missing.front());
      auto& all = result_.kernels.missing;
      all.insert(all.end(), gaps.missing.begin(), gaps.missing.end());
    }
    if (!gaps.variables.empty()) {
      fail(object, code, kInvalidSymbol, false,
           "the " + image +
               " image that this device takes lacks it; another image of the same fat binary has it",
           {}, gaps.variables.front());
      auto& all = result_.variables.missing;
      all.insert(all.end(), gaps.variables.begin(), gaps.variables.end());
    }
    if (!gaps.hollow.empty() && policy_.hollow != HollowPolicy::off) {
      if (policy_.hollow == HollowPolicy::error)
        fail(object, code, 0, false,
             "it does nothing in the " + image +
                 " image that this device takes; another image holds real code",
             gaps.hollow.front());
      auto& all = result_.kernels.hollow;
      all.insert(all.end(), gaps.hollow.begin(), gaps.hollow.end());
    }
    return any_there;
  }

  void fail(const DeviceObject& object, const ContainerCode& code, int number, bool unknown,
            const std::string& reason, const std::string& kernel, const std::string& variable = {}) {
    const auto same = [&](const Failure& failure) {
      return std::tie(failure.code, failure.unknown, failure.reason) == std::tie(number, unknown, reason);
    };
    auto failure = std::find_if(result_.failures.begin(), result_.failures.end(), same);
    // Past that many causes the file is damaged throughout, and the rest is counted with the last of them.
    if (failure == result_.failures.end() && result_.failures.size() >= kCausesMost) --failure;
    if (failure == result_.failures.end()) {
      result_.failures.push_back({number,
                                  unknown,
                                  reason,
                                  {},
                                  describe_images(code),
                                  where(object, code.container),
                                  kernel,
                                  variable});
      failure = std::prev(result_.failures.end());
    }
    failure->places.push_back(place_of(object, code));
  }

  const DeviceClass& devices_;
  const Device& device_;
  const VerifyPolicy& policy_;
  Waivers& waivers_;
  DeviceResult result_;
  struct {
    std::uint64_t total = 0, specific = 0, fitting = 0;
  } with_kernels_;  // containers
};

void add_expectation(ExpectResult& result, const DeviceObject& object, const ContainerCode& code,
                     const std::vector<ExpectedImage>& expected) {
  Expectation expectation = expect_images(code, expected);
  if (expectation.verdict == ExpectVerdict::nothing) return;
  if (expectation.verdict == ExpectVerdict::specific) {
    ++result.specific;
    return;
  }
  ++result.containers;
  if (expectation.verdict == ExpectVerdict::lacks)
    result.failures.push_back({place_of(object, code), where(object, code.container),
                               std::move(expectation.absent), describe_images(code)});
}

bool may_hold_code(const ContainerCode& code) {
  const bool ltoir = std::any_of(code.images.begin(), code.images.end(),
                                 [](const Image& image) { return image.entry.kind == EntryKind::ltoir; });
  return !(code.container.relocatable && code.linked) &&
         (asks_for_image(code) || !code.errors.empty() || ltoir);
}

}  // namespace

std::vector<DeviceClass> classes_of(const std::vector<Device>& devices) {
  std::map<std::tuple<int, int, int, int>, std::size_t> class_of;
  std::vector<DeviceClass> classes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    if (!device.capability || !device.visible) continue;
    const Version driver = device.driver_cuda.value_or(Version{-1, -1});
    const auto [found, is_new] = class_of.try_emplace(
        {device.capability->major, device.capability->minor, driver.major, driver.minor}, classes.size());
    if (is_new) classes.push_back({device, {}});
    classes[found->second].members.push_back(i);
    classes[found->second].may_have_compat |= device.cuda_by_branch && may_run_cuda_compat(device);
  }
  return classes;
}

FileResult verify_file(const DeviceCode& code, const ByteSource& file, const std::string& path,
                       const VerifyRequest& request, Waivers& waivers) {
  FileResult result;
  result.path = path;
  result.member = code.member;
  result.errors = code.errors;
  // Sections for device code without their bytes: what they held cannot be judged.
  for (const std::string& missing : code.warnings)
    result.errors.push_back({{}, missing, "name the file that was stripped of it"});
  std::vector<DeviceJudge> judges;
  judges.reserve(request.classes.size());
  for (const DeviceClass& each : request.classes) judges.emplace_back(each, request.policy, waivers);
  std::optional<Version> toolkit;
  RuntimeUse runtime(code, file);
  ContainerCodes codes(code, file);
  for (const DeviceObject& object : code.objects) {
    if (!object.linked) result.objects = true;
    add_runtime_code(object, result.runtime_code);
    for (std::size_t i = 0; i < object.containers.size(); ++i) {
      const ContainerCode contents = codes.next();
      result.has_containers = true;
      result.has_code |= may_hold_code(contents);
      result.errors.insert(result.errors.end(), contents.errors.begin(), contents.errors.end());
      for (const Image& image : contents.images)
        if (image.unknown.empty()) raise(toolkit, toolkit_of(image));
      runtime.add(object, contents);
      for (const KernelName& kernel : contents.kernels) waivers.note(kernel.name);
      for (const std::string& variable : contents.variables) waivers.note(variable);
      for (DeviceJudge& each : judges) each.add(object, contents);
      add_expectation(result.expect, object, contents, request.expected);
    }
  }
  for (DeviceJudge& each : judges)
    result.devices.push_back(each.finish(toolkit, result.errors.empty(), runtime));
  return result;
}

}  // namespace archguard
