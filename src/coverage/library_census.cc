#include "coverage/library_census.h"

#include <algorithm>

#include "compat/toolkit.h"

namespace archguard {
namespace {

constexpr std::size_t kDevicesMost = 64;  // bits of a set; the table has half as many

// Shares of what the best-served device gets, each between the devices that makers support and the others.
// Where most of what a device gets is SASS, it is served with a third; with less it may be; below a twentieth
// it is not. Where most is compiled from PTX, devices that are left out get up to a sixth, and served ones
// from 24 % on (cuFFT 12.1 on 6.1); and some that are left out get more than that.
struct Bar {
  double clear, served;
};
constexpr Bar kSassBar{0.05, 1.0 / 3}, kPtxBar{0.2, 0.75};
// Served devices that get less than that of the whole get at least 75 % of the core, others at most 45 %.
constexpr double kInCore = 0.5, kCoreBar = 0.6;
// With less than kSassBar.clear that core may be all of another library's that is linked in, and was built
// for older devices as well (cuSOLVER's in CV-CUDA 0.15: 131 of 5,597 kernels, for 3.5 to 6.1). What a third
// of the devices get counts as well there.
constexpr double kInWideCore = 1.0 / 3;
// A device with the core, in SASS, and so much of the whole is served: 8.0 gets 13 % of cuSPARSELt, where 7.5
// gets 8 %.
constexpr double kServedWithCore = 0.1;
// Of the fat binaries that are for two thirds of the devices with SASS, 5.0 gets 23 % of spconv's, and none
// of its convolutions; 6.1 gets 16 % of those of nvCOMP 4.0 for Windows, all of one codec. What they get is
// what at least half of the devices get: one with kernels of its own was meant, as 9.0 by cuTENSOR 2.8, and
// one with nearly all is. With fewer than half of the kernels that is no sign (cuTENSOR on 7.5).
constexpr double kManyKernels = 0.5, kNearlyAll = 0.95, kForMost = 2.0 / 3, kFatbinBar = 1.0 / 3,
                 kMostlyCore = 0.9;

bool has(std::uint64_t devices, std::size_t device) {
  return (devices >> device & 1) != 0;
}

int size_of(std::uint64_t devices) {
  int size = 0;
  for (; devices != 0; devices &= devices - 1) ++size;
  return size;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool covers(Verdict verdict) {
  return verdict == Verdict::sass || verdict == Verdict::jit;
}

}  // namespace

void add_to(KernelSum& sum, const KernelSum& more) {
  sum.fit += more.fit;
  sum.working += more.working;
  sum.compiled += more.compiled;
}

LibraryCensus::LibraryCensus(const std::vector<ComputeCapability>& devices) {
  const auto add_device = [&](ComputeCapability capability) {
    if (index_of(capability) || devices_.size() == kDevicesMost) return;
    Device device;
    device.capability = capability;
    devices_.push_back(std::move(device));
  };
  for (const ComputeCapability each : known_devices()) add_device(each);
  known_ = devices_.size();
  for (const ComputeCapability each : devices) add_device(each);
  sums_.resize(devices_.size());
}

void LibraryCensus::add(const FatbinCode& code) {
  last_.assign(code.images.size(), {});
  std::vector<Devices> takers(code.images.size());
  std::vector<bool> compiles(devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Judgement judgement = archguard::judge(code, devices_[i], {});
    if (judgement.verdict == Verdict::nothing) return;  // for every device alike
    if (!covers(judgement.verdict) || !judgement.image) continue;
    takers[*judgement.image] |= Devices{1} << i;
    compiles[i] = judgement.verdict == Verdict::jit;
  }
  kernels_ += code.kernels.size();
  count_kernels(code, takers);
  Devices served = 0;
  for (std::size_t image = 0; image < takers.size(); ++image) {
    if (last_[image].working != 0) served |= takers[image];
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (has(takers[image], i)) add_taken(i, of_image(image, compiles[i] ? Verdict::jit : Verdict::sass));
  }
  if (served != 0) ++fatbins_[served];
}

void LibraryCensus::add_taken(std::size_t device, const KernelSum& taken) {
  add_to(sums_[device], taken);
  if (device < known_ && taken.working != 0 && taken.compiled == 0) made_for_ |= Devices{1} << device;
}

// A kernel works where an image holds real code for it. Where that cannot be told, it is taken for real,
// unless it is known to do nothing in another image and for real in none.
void LibraryCensus::count_kernels(const FatbinCode& code, const std::vector<Devices>& takers) {
  struct Known {
    bool hollow = false;
    Devices works_on = 0;
  };
  std::vector<Known> known(code.kernels.size());
  const auto for_each_kernel = [&](const Image& image, const auto& visit) {
    auto next = code.kernels.begin();  // both are sorted by name
    for (const Kernel& kernel : image.code->kernels) {
      if (next != code.kernels.end() && next->name != kernel.name)
        next = std::lower_bound(next, code.kernels.end(), kernel.name,
                                [](const KernelName& a, const std::string& b) { return a.name < b; });
      if (next == code.kernels.end()) return;
      visit(kernel, static_cast<std::size_t>(next - code.kernels.begin()));
      ++next;
    }
  };
  for (const Image& image : code.images)
    if (image.code)
      for_each_kernel(
          image, [&](const Kernel& kernel, std::size_t at) { known[at].hollow |= is_hollow(kernel.state); });
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    if (!code.images[i].code) {  // LTO-IR, from which everything can be made
      if (code.kernels.empty() && takers[i] != 0) counted_ = false;
      if (takers[i] != 0) last_[i] = {code.kernels.size(), code.kernels.size()};
      for (Known& each : known) each.works_on |= takers[i];
      continue;
    }
    for_each_kernel(code.images[i], [&](const Kernel& kernel, std::size_t at) {
      const bool works = !is_hollow(kernel.state) &&
                         (kernel.state == KernelState::real || code.kernels[at].real || !known[at].hollow);
      ++last_[i].fit;
      if (!works) return;
      ++last_[i].working;
      known[at].works_on |= takers[i];
    });
  }
  for (const Known& each : known)
    if (each.works_on != 0) ++working_[each.works_on];
}

KernelSum LibraryCensus::of_image(std::size_t image, Verdict verdict) const {
  const ImageKernels& held = last_[image];
  return {held.fit, held.working, verdict == Verdict::jit ? held.working : 0};
}

bool LibraryCensus::tells() const {
  return counted_ && !working_.empty();
}

std::optional<std::size_t> LibraryCensus::index_of(ComputeCapability device) const {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (*devices_[i].capability == device) return i;
  return std::nullopt;
}

KernelSum LibraryCensus::with_any_driver(ComputeCapability device) const {
  const auto index = index_of(device);
  return index ? sums_[*index] : KernelSum{};
}

void LibraryCensus::count_core() {
  if (!core_.empty()) return;
  const auto by_device = [&](const std::map<Devices, std::uint64_t>& all, double least) {
    std::vector<std::uint64_t> core(devices_.size());
    for (const auto& [devices, count] : all)
      if (size_of(devices & made_for_) >= least * size_of(made_for_))
        for (std::size_t i = 0; i < core.size(); ++i)
          if (has(devices, i)) core[i] += count;
    return core;
  };
  core_ = by_device(working_, kInCore);
  wide_core_ = by_device(working_, kInWideCore);
  core_fatbins_ = by_device(fatbins_, kForMost);
}

std::uint64_t LibraryCensus::most_of_known(const std::vector<std::uint64_t>& by_device) const {
  return *std::max_element(by_device.begin(), by_device.begin() + static_cast<std::ptrdiff_t>(known_));
}

bool LibraryCensus::has_core(const KernelSum& got, ComputeCapability device,
                             const std::vector<std::uint64_t>& core) const {
  const auto index = index_of(device);
  // What the driver does not take is missing there as from the rest.
  return index &&
         share(core[*index], most_of_known(core)) * share(got.working, sums_[*index].working) >= kCoreBar;
}

std::optional<Partly> LibraryCensus::judge_fatbins(const KernelSum& got, ComputeCapability device) {
  count_core();
  const auto index = index_of(device);
  const std::uint64_t most = most_of_known(core_fatbins_);
  const bool counted = index && got.working <= sums_[*index].working;  // else it is linked when it is loaded
  const double whole = share(got.working, working(got).best);
  if (!counted || whole < kManyKernels || whole >= kNearlyAll || most == 0 ||
      share(core_fatbins_[*index], most) >= kFatbinBar ||
      share(core_[*index], sums_[*index].working) < kMostlyCore)
    return std::nullopt;
  Partly partly = told(got);
  partly.fatbins = core_fatbins_[*index];
  partly.core_fatbins = most;
  partly.clear = false;
  return partly;
}

Partly LibraryCensus::compare(const KernelSum& got, std::uint64_t KernelSum::*count) const {
  Partly partly;
  partly.kernels = got.*count;
  partly.clear = true;
  for (std::size_t i = 0; i < known_; ++i) {
    if (sums_[i].*count <= partly.best) continue;
    partly.best = sums_[i].*count;
    partly.best_device = *devices_[i].capability;
  }
  return partly;
}

Partly LibraryCensus::working(const KernelSum& got) const {
  return compare(got, &KernelSum::working);
}

Partly LibraryCensus::told(const KernelSum& got) const {
  constexpr double kAlike = 0.1;
  const Partly fit = compare(got, &KernelSum::fit), work = working(got);
  return share(fit.kernels, fit.best) - share(work.kernels, work.best) <= kAlike ? fit : work;
}

std::optional<Partly> LibraryCensus::judge(const KernelSum& got, ComputeCapability device) {
  const double whole = share(got.working, working(got).best);
  const bool compiled = 2 * got.compiled > got.working;
  const Bar& bar = compiled ? kPtxBar : kSassBar;
  if (whole >= bar.served) return judge_fatbins(got, device);
  count_core();
  const bool core = has_core(got, device, core_);
  if (core && !compiled && whole >= kServedWithCore) return std::nullopt;
  Partly partly = told(got);
  const bool acquitted = core && (whole >= kSassBar.clear || has_core(got, device, wide_core_));
  partly.clear = whole < bar.clear && !acquitted;
  return partly;
}

}  // namespace archguard
