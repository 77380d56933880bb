#include "coverage/header_fit.h"

#include <algorithm>

#include "compat/driver.h"
#include "coverage/fit.h"

namespace archguard {
namespace {

// What becomes of one image that fits.
HeaderFit fit_of_image(const FatbinEntry& entry, const Device& device, const JitEnvironment& environment) {
  if (entry.compression == Compression::zstd && device.driver_cuda && !device.cuda_at_least &&
      !driver_takes_zstd(*device.driver_cuda))
    return HeaderFit::packed;
  if (is_native(entry.kind)) return HeaderFit::sass;
  if (!environment.disables_jit.empty()) return HeaderFit::jit_off;
  if (entry.ptx_isa && device.driver_cuda && !device.cuda_at_least &&
      driver_takes_ptx(*entry.ptx_isa, *device.driver_cuda) == Fit::no)
    return HeaderFit::too_new;
  return HeaderFit::jit;
}

bool is_loaded(const FatbinEntry& entry) {
  return !entry.optix && (entry.kind == EntryKind::sass || entry.kind == EntryKind::ptx);
}

}  // namespace

HeaderFit fit_by_headers(const Fatbin& fatbin, const Device& device, const JitEnvironment& environment) {
  if (fatbin.relocatable) return HeaderFit::nothing;
  const FatbinEntry* native = nullptr;
  const FatbinEntry* ptx = nullptr;
  bool any = false, all_specific = true, any_unknown = false;
  for (const FatbinEntry& entry : fatbin.entries) {
    if (!entry.unknown.empty() || (entry.kind == EntryKind::other && !entry.optix)) any_unknown = true;
    if (!is_loaded(entry) || !entry.unknown.empty()) continue;
    any = true;
    all_specific = all_specific && entry.arch.suffix != Suffix::none;
    const Fit fit = fit_of(entry, *device.capability);
    any_unknown = any_unknown || fit == Fit::unknown;
    if (fit != Fit::yes) continue;
    const bool passed_over = !environment.forces_jit.empty() && !is_cubin_by_itself(fatbin);
    if (is_native(entry.kind) && passed_over) continue;
    const FatbinEntry*& taken = is_native(entry.kind) ? native : ptx;
    if (taken == nullptr || is_taken_before(entry, *taken, *device.capability)) taken = &entry;
  }
  if (native != nullptr) return fit_of_image(*native, device, environment);
  if (ptx != nullptr) return fit_of_image(*ptx, device, environment);
  if (any_unknown) return HeaderFit::unknown;
  if (!any) return HeaderFit::nothing;
  return all_specific ? HeaderFit::specific : HeaderFit::none;
}

bool may_link_by_headers(const Fatbin& fatbin, const Device& device) {
  return fatbin.relocatable &&
         std::any_of(fatbin.entries.begin(), fatbin.entries.end(), [&](const FatbinEntry& entry) {
           const bool is_understood = entry.unknown.empty() && entry.kind != EntryKind::other;
           return !is_understood || fit_of(entry, *device.capability) != Fit::no;
         });
}

void add_fit(FileFit& fit, HeaderFit of_one) {
  switch (of_one) {
    case HeaderFit::nothing:
      return;
    case HeaderFit::sass:
      ++fit.sass;
      return;
    case HeaderFit::jit:
      ++fit.jit;
      return;
    case HeaderFit::specific:
      ++fit.specific;
      return;
    case HeaderFit::none:
      ++fit.none;
      return;
    case HeaderFit::too_new:
      ++fit.too_new;
      return;
    case HeaderFit::packed:
      ++fit.packed;
      return;
    case HeaderFit::jit_off:
      ++fit.jit_off;
      return;
    case HeaderFit::unknown:
      ++fit.unknown;
      return;
  }
}

int FileFit::code() const {
  if (good() != 0) return 0;
  if (too_new != 0) return kUnsupportedPtxVersion;
  if (packed != 0) return kInvalidKernelImage;
  if (jit_off != 0) return kJitDisabled;
  return error_where_none_fits(texts);
}

namespace {

// Is it sure by headers that a device gets about as much as others? One that a vendor serves gets SASS; one
// that it does not gets a little PTX, or SASS for a handful of kernels. Of NVIDIA's libraries of CUDA 11.8
// and 13.0, cuDNN 9.20 and cuSPARSELt 0.8, judged kernel by kernel for 3.5 to 12.1, a device that is not
// served had 35 % of the bytes (PTX of cuSOLVERMg on 11.0) or 25 % of the fat binaries (cuSPARSE on 10.1) at
// most, and SASS for 3 % of the bytes (cuSPARSE on 7.0).
bool has_enough(const FileFit& fit) {
  const std::uint64_t asked = fit.good() + fit.failing();
  const auto has_bytes = [&](std::uint64_t percent) {
    return fit.fitting_bytes >= fit.best_bytes * percent / 100;
  };
  return has_bytes(50) || fit.good() * 100 >= asked * 40 || (fit.sass >= fit.jit && has_bytes(10));
}

}  // namespace

bool decide_by_headers(FileFit& fit) {
  const auto decide = [&](FileFit::State state) {
    fit.state = state;
    return true;
  };
  if (fit.good() + fit.failing() + fit.specific + fit.unknown == 0) return decide(FileFit::State::no_code);
  const bool any_to_link = fit.failing() != 0 || (fit.good() == 0 && fit.specific != 0);
  if (fit.to_link != 0 && any_to_link) return false;
  if (fit.good() == 0 && fit.unknown == 0) return decide(FileFit::State::lacking);
  if (fit.good() == 0) return decide(FileFit::State::unknown);
  if (fit.failing() == 0) return decide(FileFit::State::served);
  if (has_enough(fit)) return decide(FileFit::State::served);
  return false;
}

}  // namespace archguard
