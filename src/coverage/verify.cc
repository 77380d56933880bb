#include "coverage/verify.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "coverage/data_fatbins.h"
#include "coverage/device_judge.h"
#include "coverage/device_link.h"
#include "coverage/kernel_costs.h"
#include "coverage/runtime.h"
#include "fatbin/driver_library.h"
#include "fatbin/runtime_code.h"
#include "fatbin/zeroed_names.h"

namespace archguard {
namespace {

// The images of fat binaries that ask for something: what the build asks for, in a part of the file at least.
void add_held(std::vector<ExpectedImage>& held, const FatbinCode& code) {
  for (const Image& image : code.images) {
    const bool sass = image.entry.kind == EntryKind::sass;
    if (!image.code || !image.unknown.empty() || (!sass && image.entry.kind != EntryKind::ptx)) continue;
    const auto same = [&](const ExpectedImage& each) {
      return each.arch == image.entry.arch && each.sass == sass;
    };
    if (std::none_of(held.begin(), held.end(), same)) held.push_back({image.entry.arch, sass});
  }
}

bool are_alike(const Fatbin& a, const Fatbin& b) {
  return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const FatbinEntry& one, const FatbinEntry& other) {
                      return std::tie(one.kind, one.arch, one.ltoir_version, one.unknown) ==
                             std::tie(other.kind, other.arch, other.ltoir_version, other.unknown);
                    });
}

// FatbinCode::lto_parts
std::vector<Fatbin> lto_parts_of(const DeviceCode& code, const DeviceLink& link) {
  std::vector<Fatbin> parts;
  bool any = false;
  for (const FatbinRef& ref : link.parts) {
    const Fatbin& part = code.objects[ref.object].fatbins[ref.fatbin];
    any = any || std::any_of(part.entries.begin(), part.entries.end(), [](const FatbinEntry& entry) {
            return entry.kind == EntryKind::ltoir && !entry.own_arch;
          });
    const auto is_same = [&](const Fatbin& each) { return are_alike(each, part); };
    if (std::none_of(parts.begin(), parts.end(), is_same)) parts.push_back(part);
  }
  if (!any) parts.clear();
  return parts;
}

std::optional<Version> newest_maker(const FatbinCode& code) {
  std::optional<Version> newest;
  for (const Image& image : code.images)
    if (image.code && image.code->toolkit) newest = std::max(newest, image.code->toolkit);
  return newest;
}

void add_expectation(ExpectResult& result, Expectation expectation, const LinkJudge::Subject& subject,
                     std::optional<Version> toolkit) {
  if (expectation.verdict == ExpectVerdict::nothing) return;
  if (expectation.verdict == ExpectVerdict::specific) {
    ++result.specific;
    return;
  }
  ++result.fatbins;
  if (expectation.verdict == ExpectVerdict::lacks)
    result.failures.push_back(
        {subject.place, subject.where, std::move(expectation.absent), subject.found, toolkit});
}

// But for LTO-IR, whose names are not read.
bool all_images_have(const FatbinCode& code, const std::string& kernel) {
  return std::all_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    return image.entry.kind == EntryKind::ltoir || (image.code && has_kernel(image, kernel));
  });
}

std::vector<ComputeCapability> capabilities_of(const std::vector<DeviceClass>& classes) {
  std::vector<ComputeCapability> capabilities;
  for (const DeviceClass& each : classes) capabilities.push_back(*each.device.capability);
  return capabilities;
}

// What device links made is held against the list when their objects are known.
class ExpectedOfLinks {
 public:
  void add(std::size_t link, const DeviceObject& object, const FatbinCode& code) {
    linked_.push_back(
        {link, code.fatbin, subject_of(object, code), newest_maker(code), asks_for_image(code)});
  }
  void finish(ExpectResult& result, const DeviceLinks& links, const std::vector<ExpectedImage>& expected) {
    // Its objects may be in other files, and they alone can hold PTX: without them it holds SASS at most, and
    // is no answer to who asks for PTX.
    std::vector<ExpectedImage> sass;
    std::copy_if(expected.begin(), expected.end(), std::back_inserter(sass),
                 [](const ExpectedImage& image) { return image.sass; });
    for (const Linked& each : linked_) {
      const bool asks = links.asks(each.link);
      if (!asks && !each.asks) continue;
      // Objects of LTO-IR alone do not tell what they ask for.
      const bool whole = asks || links.absent_ids(each.link).empty();
      Expectation expectation = links.expect(each.link, each.fatbin, whole ? expected : sass);
      const bool all_asked = whole || sass.size() == expected.size();
      if (all_asked || expectation.verdict != ExpectVerdict::holds)
        add_expectation(result, std::move(expectation), each.subject, each.toolkit);
    }
  }

 private:
  struct Linked {
    std::size_t link = 0;
    Fatbin fatbin;
    LinkJudge::Subject subject;
    std::optional<Version> toolkit;
    bool asks = false;  // holds kernels itself: what it was made of may be in other files
  };
  std::vector<Linked> linked_;
};

bool is_joined(const DeviceCode& code, const LinkRole& role) {
  return std::any_of(role.parts.begin(), role.parts.end(),
                     [&](const auto& part) { return !code.links[part.first].linked.empty(); });
}

bool may_hold_code(const FatbinCode& code) {
  return !(code.fatbin.relocatable && code.linked) &&
         (asks_for_image(code) || code.fatbin.emptied || !code.errors.empty() || is_linkable(code));
}

// Of a file that is an image, the file's errors tell of it already.
void add_errors(const FatbinCode& code, const std::vector<Error>& of_file, std::vector<Error>& errors) {
  for (const Error& each : code.errors)
    if (of_file.size() != 1 || of_file.front().text() != each.text()) errors.push_back(each);
}

// An image that the file holds as data.
void add_bare_file(const DeviceObject& object, const FatbinCode& code, EmbeddedPolicy policy,
                   BareImages& bare, FileResult& result) {
  if (policy == EmbeddedPolicy::off) return;
  result.errors.insert(result.errors.end(), code.errors.begin(), code.errors.end());
  add_warnings(code, result.warnings);
  const bool waits = bare.add(where(object, code.fatbin), code, fatbin::compiles_code(result.runtime_code));
  result.has_code |= !waits && asks_as_embedded(code);
}

void tell_profiler(const std::string& name, FileResult& result) {
  result.warnings.push_back(
      {name,
       "belongs to NVIDIA's library for profilers, which asks whether it supports a device "
       "before it uses code of its own: not judged",
       {}});
}

// Is it the image of Perfworks that is linked into something?
bool is_of_profiler(const DeviceObject& object, const ByteSource& file, const FatbinCode& code) {
  return code.fatbin.bare && code.kernels.size() == 1 && code.kernels[0].name == kKernelOfProfiler &&
         holds_profiler(object, file);
}

// Says so where the object is a library of the driver.
bool tell_driver_library(const DeviceObject& object, const ByteSource& file, FileResult& result) {
  const DriverLibrary kind = driver_library(object, file);
  if (kind == DriverLibrary::no) return false;
  const std::string name = object_name(object.path, object.member);
  if (kind == DriverLibrary::libcuda)
    result.warnings.push_back(
        {name, "is NVIDIA's driver library, whose device code is its own: not judged", {}});
  else if (kind == DriverLibrary::part)
    result.warnings.push_back(
        {name, "is part of NVIDIA's driver, whose device code is its own: not judged", {}});
  else if (kind == DriverLibrary::profiler)
    tell_profiler(name, result);
  else
    result.errors.push_back(
        {name,
         "is a copy of NVIDIA's driver library under a name of its own: what is linked with it does not use "
         "the "
         "installed driver, and fails with error 803 where the releases of the two do not go together",
         "leave it out of the package: auditwheel repair --exclude libcuda.so.1"});
  return true;
}

}  // namespace

const std::vector<std::string>& names_failing(const DeviceResult& result, const Failure& failure) {
  static const std::vector<std::string> kNone;
  if (failure.cause == FailureCause::hollow) return result.kernels.hollow;
  if (failure.code == kInvalidDeviceFunction) return result.kernels.unlaunchable;
  if (failure.code == kInvalidSymbol) return result.variables.unregistered;
  if (failure.code != kSymbolNotFound) return kNone;
  return failure.kernel.empty() ? result.variables.missing : result.kernels.missing;
}

std::vector<DeviceClass> classes_of(const DeviceList& devices) {
  std::map<std::tuple<int, int, int, int, bool>, std::size_t> class_of;
  std::vector<DeviceClass> classes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices.kind(i);
    if (!device.capability || !is_wanted(device)) continue;
    const Version driver = device.driver_cuda.value_or(Version{-1, -1});
    const auto [found, is_new] = class_of.try_emplace({device.capability->major, device.capability->minor,
                                                       driver.major, driver.minor, device.cuda_at_least},
                                                      classes.size());
    if (is_new) classes.push_back({devices[i], {}});
    DeviceClass& of = classes[found->second];
    of.members.push_back(i);
    of.may_have_compat = of.may_have_compat || (device.cuda_by_branch && may_run_cuda_compat(devices[i]));
  }
  return classes;
}

FileResult verify_file(const DeviceCode& code, const ByteSource& file, const std::string& path,
                       const VerifyRequest& request, Waivers& waivers, const AskElsewhere& elsewhere,
                       const OnJudged& on_judged) {
  FileResult result;
  result.library = request.policy.scope == Scope::library;
  result.path = path;
  result.target = request.policy.target;
  result.member = code.member;
  result.errors = code.errors;
  // Sections for device code without their bytes: what they held cannot be judged.
  for (const std::string& missing : code.warnings)
    result.errors.push_back({{}, missing, "verify the stripped file instead"});
  std::vector<DeviceJudge> judges;
  judges.reserve(request.classes.size());
  DeviceLinks links(code);
  HostNames host_names(file);
  ZeroedNames zeroed_names(file, host_names);
  SharedStubs stubs(code, file);
  ExpectedOfLinks expected_of_links;
  std::optional<LibraryCensus> census;
  if (request.policy.scope == Scope::library) census.emplace(capabilities_of(request.classes));
  for (const DeviceClass& each : request.classes)
    judges.emplace_back(each, request.policy, waivers, links, host_names, stubs, census ? &*census : nullptr);
  std::vector<ExpectedImage> held;
  RuntimeUse runtime(code, file);
  DriverFunctions functions(code, file, elsewhere);
  FatbinCodeReader codes(code, file);
  BareImages bare;
  KernelCosts costs;
  // `data`: of an object, for the program to hand to the driver; another compilation was asked for its
  // images.
  const auto judge_one = [&](const DeviceObject& object, const FatbinCode& contents, const LinkRole* role,
                             bool data) {
    if (on_judged) on_judged(object, contents);
    result.has_code |= may_hold_code(contents);
    add_errors(contents, code.errors, result.errors);
    add_warnings(contents, result.warnings);
    // The toolkit brings the device runtime, for all devices that it knows.
    if (asks_for_image(contents) && !DeviceLinks::is_runtime(contents)) add_held(held, contents);
    runtime.add(object, contents);
    for (const KernelName& kernel : contents.kernels) waivers.note(kernel.name);
    for (const std::string& variable : contents.variables) waivers.note(variable);
    if (census) census->add(contents);
    for (DeviceJudge& each : judges) each.add(object, contents, role);
    if (request.expected.empty() || data) return;
    if (role != nullptr && role->linked)
      expected_of_links.add(*role->linked, object, contents);
    else
      add_expectation(result.expect, expect_images(contents, request.expected), subject_of(object, contents),
                      newest_maker(contents));
  };
  const auto judge_bare = [&](const DeviceObject& object, const FatbinCode& contents) {
    if (on_judged) on_judged(object, contents);
    add_bare_file(object, contents, request.policy.embedded, bare, result);
  };
  // With scope library one of them is enough anyway.
  const bool one_of_several = request.policy.scope == Scope::fatbin;
  DataAlternatives alternatives;
  for (std::size_t index = 0; index < code.objects.size(); ++index) {
    const DeviceObject& object = code.objects[index];
    if (!object.linked) result.objects = true;
    add_runtime_code(object, result.runtime_code);
    const DataFatbins data(object);
    const bool of_driver = !object.fatbins.empty() && tell_driver_library(object, file, result);
    for (std::size_t i = 0; i < object.fatbins.size(); ++i) {
      FatbinCode contents = codes.next();
      result.has_fatbins = true;
      if (of_driver) continue;
      if (is_of_profiler(object, file, contents)) {
        tell_profiler(where(object, contents.fatbin), result);
        continue;
      }
      costs.add(contents);
      if (zeroed_names.may_be(object)) {
        for (const KernelName& kernel : contents.kernels)
          zeroed_names.note(object, i, kernel.name, all_images_have(contents, kernel.name));
        for (const std::string& variable : contents.variables) zeroed_names.note_variable(object, variable);
      }
      const LinkRole* role = links.role(index, i);
      // What a link joined, no other one joins; an archive may hold the link beside its objects.
      contents.linked = contents.linked || (role != nullptr && is_joined(code, *role));
      if (role != nullptr) links.note(*role, object, contents);
      if (role != nullptr && role->linked) contents.lto_parts = lto_parts_of(code, code.links[*role->linked]);
      for (const Image& image : contents.images) result.optix += image.entry.optix;
      if (role == nullptr || role->linked) stubs.note(object, contents);
      if (data.holds(i) && is_ltoir_alone(contents)) contents = as_bare_ltoir(std::move(contents));
      // Images that the driver is handed by themselves, it does not pass over.
      const bool is_judged = !contents.fatbin.bare || (request.policy.embedded != EmbeddedPolicy::off &&
                                                       request.policy.judge.environment.forces_jit.empty());
      if (one_of_several && is_judged && role == nullptr && !alternatives.is_full() &&
          data.may_be_alternative(i, contents))
        alternatives.add(std::move(contents));
      else if (contents.fatbin.bare)
        judge_bare(object, contents);
      else
        judge_one(object, contents, role, !object.linked && data.holds(i));
    }
    if (auto error = zeroed_names.find(object)) result.errors.push_back(std::move(*error));
    for (const FatbinCode& contents : alternatives.take())
      if (contents.fatbin.bare)
        judge_bare(object, contents);
      else
        judge_one(object, contents, nullptr, !object.linked);
  }
  for (std::size_t i = 0; i < links.size(); ++i) result.has_code |= links.asks(i);
  expected_of_links.finish(result.expect, links, request.expected);
  bare.finish();
  result.has_code |= !bare.items().empty();
  result.sizes = costs.sizes();
  for (DeviceJudge& each : judges)
    result.devices.push_back(
        each.finish(held, result.errors.empty(), result.runtime_code, bare, runtime, functions));
  if (auto warning = result.has_code || !bare.items().empty() ? warning_of_calls(request.classes, functions)
                                                              : std::nullopt)
    result.warnings.push_back(std::move(*warning));
  return result;
}

FileResult of_file_alone(FileResult result) {
  const FileResult unset;
  result.named = unset.named;
  result.needed_by = unset.needed_by;
  result.by_linker = unset.by_linker;
  result.needs = unset.needs;
  result.found_under = unset.found_under;
  result.any_of = unset.any_of;
  result.alternative = unset.alternative;
  result.libraries = unset.libraries;
  result.package = unset.package;
  return result;
}

}  // namespace archguard
