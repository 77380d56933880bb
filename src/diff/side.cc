#include "diff/side.h"

#include <algorithm>

#include "coverage/judge_fatbin.h"

namespace archguard {
namespace {

// Of an image that lacks some names, only these fail, and the result names them.
bool is_of_some_names(const Failure& failure) {
  return failure.code == kSymbolNotFound || failure.code == kInvalidSymbol ||
         failure.code == kInvalidDeviceFunction || failure.cause == FailureCause::hollow;
}

// Not one fat binary fails, but the file: at its start, since its driver is too old, or nothing in it fits.
bool is_of_all(const Failure& failure) {
  return failure.places.empty() &&
         (failure.cause == FailureCause::image || failure.cause == FailureCause::start);
}

// What fails of one fat binary.
struct Fails {
  bool all = false, some = false;              // all its names, or those that the result names
  bool maybe_all = false, maybe_some = false;  // likewise; it cannot be told
};

void note_failing(const Failure& failure, Fails& fails) {
  const bool some = is_of_some_names(failure);
  (failure.unknown ? some ? fails.maybe_some : fails.maybe_all : some ? fails.some : fails.all) = true;
}

// Only an image with a suffix is for its own devices alone.
bool has_suffix(const FatbinCode& code) {
  return std::any_of(code.images.begin(), code.images.end(),
                     [](const Image& image) { return image.entry.arch.suffix != Suffix::none; });
}

}  // namespace

bool operator==(const DiffDevice& a, const DiffDevice& b) {
  return a.capability == b.capability && a.driver_cuda == b.driver_cuda &&
         a.cuda_at_least == b.cuda_at_least && a.may_have_compat == b.may_have_compat;
}

DiffDevice diff_device(const DeviceClass& devices) {
  return {*devices.device.capability, devices.device.driver_cuda, devices.device.cuda_at_least,
          devices.may_have_compat};
}

std::string to_string(const DiffDevice& device) {
  return to_string(device.capability) + (device.driver_cuda ? "@" + to_string(*device.driver_cuda) : "");
}

void add(DiffSizes& to, const DiffSizes& sizes) {
  for (const auto& [image, size] : sizes) {
    DiffSize& sum = to[image];
    sum.images += size.images;
    sum.kernels += size.kernels;
    sum.stored += size.stored;
    sum.uncompressed += size.uncompressed;
  }
}

DiffSize total_of(const DiffSizes& sizes) {
  DiffSize total;
  for (const auto& [image, size] : sizes) {
    total.images += size.images;
    total.kernels += size.kernels;
    total.stored += size.stored;
    total.uncompressed += size.uncompressed;
  }
  return total;
}

bool operator==(const DiffVerdict& a, const DiffVerdict& b) {
  return a.coverage == b.coverage && a.code == b.code && a.what == b.what && a.found == b.found &&
         a.fix == b.fix && a.not_all == b.not_all;
}

void FileContents::add(const DeviceObject& object, const FatbinCode& code) {
  std::vector<std::size_t>& here = places_[{object.member, code.fatbin.offset}];
  const bool is_part = code.fatbin.relocatable && code.linked;
  if (is_part) parts_.insert({object.member, code.fatbin.offset});
  const auto hold = [&](const DiffName& name) {
    here.push_back(number_of(name));
    Held& held = held_.at(name);
    if (code.fatbin.bare)
      held.bare = true;
    else
      ++(is_part ? held.parts : held.fatbins);
  };
  for (const KernelName& kernel : code.kernels) hold({false, kernel.name});
  for (const std::string& variable : code.variables) hold({true, variable});
  if (policy_.scope == Scope::fatbin && !code.fatbin.bare && has_suffix(code))
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (judge(code, classes_[i].device, policy_.judge).verdict == Verdict::specific)
        for (const std::size_t number : here) ++elsewhere_[i][number];
  if (policy_.scope == Scope::library && !code.fatbin.bare && !is_part)
    for (std::size_t i = 0; i < classes_.size(); ++i) note_served(code, here, i);
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    const FatbinEntry& entry = code.fatbin.entries[i];
    const std::pair<EntryKind, Arch> image{entry.kind, entry.arch};
    DiffSize& size = sizes_[image];
    ++size.images;
    size.stored += entry.stored_size;
    size.uncompressed += entry.uncompressed_size;
    if (!code.images[i].code) continue;
    std::vector<bool>& seen = seen_[image];
    for (const Kernel& kernel : code.images[i].code->kernels) {
      const std::size_t number = number_of({false, kernel.name});
      if (number >= seen.size()) seen.resize(number + 1);
      if (!seen[number]) ++size.kernels;
      seen[number] = true;
    }
  }
}

// With scope library verify does not ask each fat binary, and says nothing of what each gets.
void FileContents::note_served(const FatbinCode& code, const std::vector<std::size_t>& here,
                               std::size_t device_class) {
  const Judgement judgement =
      require(judge(code, classes_[device_class].device, policy_.judge), policy_.judge);
  const bool is_unknown = judgement.verdict == Verdict::unknown;
  const bool serves =
      (judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit) && judgement.image;
  if (!is_unknown && !serves) return;
  std::set<std::size_t> lacking;
  if (serves) {
    const KernelGaps gaps = compare_kernels(code, *judgement.image);
    for (const auto* kernels : {&gaps.missing, &gaps.hollow})
      for (const std::string& kernel : *kernels) lacking.insert(number_of({false, kernel}));
    for (const std::string& variable : gaps.variables) lacking.insert(number_of({true, variable}));
  }
  for (const std::size_t number : here) {
    if (lacking.count(number) != 0) continue;
    Runs& runs = served_[device_class].try_emplace(number, Runs::unknown).first->second;
    if (serves) runs = Runs::everywhere;
  }
}

// By class and number, with scope library.
Runs FileContents::served(std::size_t device_class, std::size_t number) const {
  const auto found = served_[device_class].find(number);
  return found == served_[device_class].end() ? Runs::nowhere : found->second;
}

std::vector<DiffName> FileContents::names() const {
  std::vector<DiffName> names;
  for (const auto& [name, held] : held_) names.push_back(name);
  return names;
}

NotAll FileContents::not_all(const DeviceResult& result, std::size_t device_class) const {
  std::vector<bool> lacking(
      held_.size());  // some fat binary has no code for it here, or none that does anything
  std::vector<std::uint64_t> fails(held_.size()), untold(held_.size());  // fat binaries
  bool all = false, maybe_all = false;
  const auto number = [&](bool is_variable, const std::string& name) -> std::optional<std::size_t> {
    const auto found = held_.find({is_variable, name});
    if (found == held_.end()) return std::nullopt;
    return found->second.number;
  };
  for (const auto* kernels : {&result.kernels.missing, &result.kernels.unlaunchable, &result.kernels.hollow})
    for (const std::string& kernel : *kernels)
      if (const auto at = number(false, kernel)) lacking[*at] = true;
  for (const auto* variables : {&result.variables.missing, &result.variables.unregistered})
    for (const std::string& variable : *variables)
      if (const auto at = number(true, variable)) lacking[*at] = true;

  std::vector<bool> is_linked(held_.size());  // the parts of a device link stand for nothing then
  for (const auto& [name, held] : held_) is_linked[held.number] = held.fatbins != 0;
  std::map<Place, Fails> of;
  for (const Failure& failure : result.failures) {
    if (is_of_all(failure)) (failure.unknown ? maybe_all : all) = true;
    for (const FatbinPlace& place : failure.places) note_failing(failure, of[{place.member, place.offset}]);
  }
  for (const auto& [place, failing] : of) {
    const auto here = places_.find(place);
    if (here == places_.end()) continue;
    for (const std::size_t name : here->second) {
      if (parts_.count(place) != 0 && is_linked[name]) continue;
      if (failing.all || (failing.some && lacking[name]))
        ++fails[name];
      else if (failing.maybe_all || (failing.maybe_some && lacking[name]))
        ++untold[name];
    }
  }

  std::vector<bool> without(held_.size());  // of the images that are data
  const EmbeddedResult& bare = result.embedded;
  for (const auto* names : {&bare.without, &bare.elsewhere})
    for (const std::string& kernel : *names)
      if (const auto at = number(false, kernel)) without[*at] = true;
  const bool no_bare = bare.total != 0 && bare.fitting == 0;

  NotAll not_all;
  std::size_t index = 0;  // in the order of the names
  for (const auto& [name, held] : held_) {
    const std::size_t at = index++;
    const auto other = elsewhere_[device_class].find(held.number);
    const std::uint64_t here = counted(held) - (other == elsewhere_[device_class].end() ? 0 : other->second);
    const std::uint64_t failing = fails[held.number], doubtful = untold[held.number];
    Runs runs = Runs::everywhere;
    if (all)
      runs = Runs::nowhere;
    else if (maybe_all)
      runs = Runs::unknown;
    else if (policy_.scope == Scope::library && held.fatbins != 0)
      runs = served(device_class, held.number);
    else if (counted(held) != 0 && (failing >= here || (lacking[held.number] && failing + doubtful == 0)))
      runs = Runs::nowhere;
    else if (doubtful != 0)
      runs = Runs::unknown;
    else if (failing != 0)
      runs = Runs::in_some;
    else if (counted(held) == 0 && held.bare && !name.is_variable && (no_bare || without[held.number]))
      runs = bare.undecided() ? Runs::unknown : Runs::nowhere;
    if (runs != Runs::everywhere) not_all.emplace_back(at, runs);
  }
  return not_all;
}

DiffFile diff_file(const FileResult& result, const FileContents& contents, const std::string& key) {
  DiffFile file{result.path, result.member, key, result.has_code};
  file.sizes = contents.sizes();
  file.names = contents.names();
  if (!file.has_code) return file;
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceResult& device = result.devices[i];
    DiffVerdict verdict;
    verdict.coverage = device.coverage;
    if (!device.failures.empty()) {
      const Failure& failure = device.failures.front();
      verdict.code = failure.code;
      verdict.what = failure.reason;
      verdict.found = failure.found;
      verdict.fix = device.fix;
    }
    if (device.failures.empty() && !device.kernels.hollow.empty())
      verdict.what = "the kernels do nothing there, and something on other devices";
    else if (device.failures.empty() && device.embedded.lacking()) {
      verdict.code = device.embedded.code;
      verdict.what = device.embedded.reason;
      verdict.found = device.embedded.found;
      verdict.fix = device.embedded.fix;
    }
    verdict.not_all = contents.not_all(device, i);
    file.verdicts.push_back(std::move(verdict));
  }
  return file;
}

}  // namespace archguard
