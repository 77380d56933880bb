#include "select/check_list.h"

#include "compat/driver.h"
#include "compat/driver_text.h"
#include "compat/error_codes.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "select/parts.h"

namespace archguard {
namespace {

// Whether one half of the list, its SASS or its PTX, serves the device. As for the images of a container
// (coverage/judge_fatbin.h): an entry that the tables leave open makes the answer open, except beside SASS of
// the device's own architecture.
Fit fit_of_half(const std::vector<ArchEntry>& list, ComputeCapability device, bool ArchEntry::*half,
                Fit fits(Arch, ComputeCapability)) {
  Fit answer = Fit::no;
  for (const ArchEntry& entry : list) {
    if (!(entry.*half)) continue;
    const Fit fit = fits(entry.arch, device);
    const bool own = half == &ArchEntry::real && capability_of(entry.arch) == device;
    if (fit == Fit::yes && own) return fit;
    if (fit == Fit::unknown || answer == Fit::no) answer = fit;
  }
  return answer;
}

// The device's driver, or the newest that it ever gets.
std::optional<Version> driver_of(const Device& device) {
  return device.driver_cuda ? device.driver_cuda : last_driver_cuda_for(*device.capability);
}

// The driver compiles the PTX of this compiler, or it is not known which driver there is.
Fit driver_accepts(const Compiler& compiler, const Device& device) {
  const auto driver = driver_of(device);
  const Fit taken = driver ? driver_takes_ptx_of(compiler, *driver) : Fit::yes;
  return taken == Fit::no && device.cuda_at_least ? Fit::unknown : taken;
}

// What select would add for this device alone, without a fallback for others; PTX if the compiler has no SASS
// for it.
std::string entries_for(const Device& device, const Compiler& compiler) {
  SelectPolicy sass_alone;
  sass_alone.ptx = PtxPolicy::none;
  const std::string entries = format_cmake(select_architectures({device}, compiler, sass_alone));
  return entries.empty() ? format_cmake(select_architectures({device}, compiler, {})) : entries;
}

ListJudgement judge_device(const Device& device, const Compiler& compiler,
                           const std::vector<ArchEntry>& list) {
  ListJudgement judged;
  if (!device.capability) {
    judged.reason = "its compute capability is not known";
    return judged;
  }
  const std::string capability = to_string(*device.capability);
  if (const Fit known = driver_knows_device(device); known != Fit::yes) {
    judged.verdict = known == Fit::no ? ListVerdict::uncovered : ListVerdict::unknown;
    judged.code = known == Fit::no ? kNoDevice : 0;
    judged.reason = "its driver offers " + cuda_text(*device.driver_cuda) + ", and " +
                    unknown_to_driver_text(*device.capability, *device.driver_cuda);
    judged.advice = unknown_device_advice(*device.capability, *device.driver_cuda);
    return judged;
  }
  const Fit sass = fit_of_half(list, *device.capability, &ArchEntry::real, sass_fits);
  if (sass == Fit::yes) {
    judged.verdict = ListVerdict::sass;
    judged.reason = "SASS in the list runs on " + capability;
    return judged;
  }
  const Fit ptx = fit_of_half(list, *device.capability, &ArchEntry::virtual_, ptx_fits);
  const Fit driver = driver_accepts(compiler, device);
  if (sass == Fit::no && ptx == Fit::yes && driver == Fit::yes) {
    judged.verdict = ListVerdict::jit;
    judged.reason = "the driver compiles PTX in the list for " + capability;
    return judged;
  }
  judged.fix = entries_for(device, compiler);
  if (sass == Fit::unknown || ptx == Fit::unknown || (ptx == Fit::yes && driver == Fit::unknown)) {
    judged.reason = "the tables do not tell whether the list runs on " + capability;
    return judged;
  }
  judged.verdict = ListVerdict::uncovered;
  if (ptx == Fit::no) {
    judged.code = kNoKernelImage;
    judged.reason = "nothing in the list runs on " + capability;
    return judged;
  }
  judged.code = error_of_newer_ptx(*driver_of(device));
  judged.reason = "only PTX in the list fits " + capability + ", and its ISA " + to_string(compiler.ptx_isa) +
                  " is newer than a driver that offers CUDA " + to_string(*driver_of(device)) + " compiles";
  return judged;
}

// Whether what makes `sass` and `ptx` makes all that the entry asks for. SASS is compiled from PTX of the
// same architecture.
bool makes_entry(const std::vector<Arch>& sass, const std::vector<Arch>& ptx, const ArchEntry& entry) {
  return makes(ptx, entry.arch) && (!entry.real || makes(sass, entry.arch));
}

// The known toolkits that make it; none where it is clang that does not, with a toolkit that does.
std::string toolkits_that_make(const ArchEntry& entry, const Compiler& compiler) {
  std::vector<Version> others;
  for (const Toolkit& toolkit : known_toolkits()) {
    if (is_sass_only(entry.arch) || !makes(toolkit.archs, entry.arch)) continue;
    if (toolkit.version == compiler.version) return {};
    others.push_back(toolkit.version);
  }
  return other_toolkits_text(others, compiler.version, "does");
}

}  // namespace

std::string to_string(ListVerdict verdict) {
  switch (verdict) {
    case ListVerdict::sass:
      return "sass";
    case ListVerdict::jit:
      return "jit";
    case ListVerdict::uncovered:
      return "not-covered";
    case ListVerdict::unknown:
      break;
  }
  return "unknown";
}

std::vector<ListJudgement> judge_list(const DeviceList& devices, const Compiler& compiler,
                                      const std::vector<ArchEntry>& list) {
  const auto made = compiler.clang.empty() ? list : as_clang_reads_it(list);
  std::vector<ListJudgement> judged;
  for (const Device& kind : devices.kinds())
    judged.push_back(is_wanted(kind) ? judge_device(kind, compiler, made) : ListJudgement{});
  return judged;
}

std::vector<UnmadeEntry> unmade_entries(const Compiler& compiler, const std::vector<ArchEntry>& list) {
  std::vector<UnmadeEntry> unmade;
  for (const ArchEntry& entry : list) {
    if (makes_entry(compiler.sass, compiler.ptx, entry)) continue;
    ArchEntry plain = entry;
    plain.arch.suffix = Suffix::none;
    if (compiler.version > newest_known_toolkit().version && makes_entry(compiler.sass, compiler.ptx, plain))
      continue;  // no listing shows the names with a suffix
    unmade.push_back(
        {entry, name_of(compiler) + " makes no " + to_string(entry) + toolkits_that_make(entry, compiler)});
  }
  return unmade;
}

}  // namespace archguard
