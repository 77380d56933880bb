#include "coverage/judge_fatbin.h"

#include <algorithm>

#include "base/text.h"
#include "compat/driver.h"
#include "compat/rules.h"
#include "compat/toolkit.h"
#include "coverage/device_driver.h"
#include "coverage/driver_load.h"
#include "coverage/fit.h"

namespace archguard {
namespace {

// Does the image hold something that the fat binary is needed for?
bool has_any_of(const Image& image, const FatbinCode& code) {
  if (!image.code) return false;
  const auto is_asked = [&](const DeviceVariable& variable) {
    return std::binary_search(code.variables.begin(), code.variables.end(), variable.name);
  };
  const auto& variables = image.code->variables;
  return !image.code->kernels.empty() || std::any_of(variables.begin(), variables.end(), is_asked);
}

// Is there something in it that another object may want when they are linked?
bool is_linkable(const Image& image, const FatbinCode& code) {
  return image.entry.kind == EntryKind::ltoir ||
         (image.code && image.code->names.defines && code.fatbin.relocatable);
}

// Can an image of this kind serve this fat binary at all? The driver loads linked SASS and PTX. A linker
// takes relocatable SASS, and PTX, which it compiles; nvlink takes LTO-IR as well, the driver does not. What
// is in the image plays no part: the driver goes by the arch, and a linker may need it for another object.
bool image_serves(const Image& image, const Use& use) {
  const bool passed_over = use.step != Step::link && !use.environment.forces_jit.empty();
  switch (image.entry.kind) {
    case EntryKind::sass:
      if (!image.code || passed_over) return false;
      return use.step == Step::link || image.code->relocatable == (use.step == Step::relink);
    case EntryKind::ltoir:
      return use.step == Step::link;
    case EntryKind::ptx:
      return image.code.has_value();
    case EntryKind::reloc_ptx:
    case EntryKind::other:
      return false;
  }
  return false;
}

// A driver loads cubins that are linked. Libraries of NVIDIA register some that are not, and want nothing of
// another (docs/reference/verdicts.md#relocatable-images-by-themselves): so it may load those, too.
bool may_load_relocatable(const Image& image, const Use& use) {
  return image.entry.kind == EntryKind::sass && image.code && image.code->relocatable &&
         use.step == Step::load && use.environment.forces_jit.empty();
}

struct Choice {
  std::optional<std::size_t> native;
  std::optional<std::size_t> ptx;
  // The first image that might be the driver's choice, but cannot be judged; PTX matters only where no SASS
  // fits.
  std::string undecided, undecided_ptx;
};

Choice choose(const FatbinCode& code, ComputeCapability device, const Use& use) {
  Choice choice;
  const auto take = [&](std::optional<std::size_t>& taken, std::size_t i) {
    if (!taken || is_taken_before(code.images[i].entry, code.images[*taken].entry, device)) taken = i;
  };
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    const Image& image = code.images[i];
    if (!image.unknown.empty()) {
      if (choice.undecided.empty()) choice.undecided = image.unknown;
      continue;
    }
    if (image.entry.kind == EntryKind::reloc_ptx && use.step == Step::load && choice.undecided_ptx.empty() &&
        ptx_fits(image.entry.arch, device) != Fit::no)
      choice.undecided_ptx = "what a driver does with PTX of -reloc-ptx is not known";
    if (may_load_relocatable(image, use) && choice.undecided.empty() &&
        fit_of(image.entry, device) != Fit::no)
      choice.undecided = "its " + image_name(image.entry) +
                         " image is relocatable: CUDA does not document that a driver loads one by itself";
    if (use.step != Step::load && image.code && image.code->without_abi) {
      if (choice.undecided_ptx.empty() && ptx_fits(image.entry.arch, device) != Fit::no)
        choice.undecided_ptx = "its PTX has a function of several results, and linkers take none";
      continue;
    }
    if (!image_serves(image, use)) continue;
    const Fit fit = fit_of(image.entry, device);
    if (fit == Fit::unknown) {
      std::string& doubt = is_native(image.entry.kind) ? choice.undecided : choice.undecided_ptx;
      if (doubt.empty()) doubt = why_unknown(image.entry, device);
    }
    if (fit != Fit::yes) continue;
    take(is_native(image.entry.kind) ? choice.native : choice.ptx, i);
  }
  if (!choice.native && choice.undecided.empty()) choice.undecided = choice.undecided_ptx;
  return choice;
}

bool is_exact(const FatbinEntry& entry, ComputeCapability device) {
  return capability_of(entry.arch) == device;
}

// Only `a` and `f` images: made for some devices on purpose, not meant to serve every one.
bool is_specific(const FatbinCode& code) {
  return std::all_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    const bool asks_nothing = image.code && !has_any_of(image, code) && !is_linkable(image, code);
    return asks_nothing || image.entry.arch.suffix != Suffix::none;
  });
}

bool holds_plain_ptx(const FatbinCode& code) {
  return std::any_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    const bool ptx = image.entry.kind == EntryKind::ptx || image.entry.kind == EntryKind::reloc_ptx;
    const bool whole =
        code.fatbin.relocatable ||
        (code.kernels.empty() ? has_any_of(image, code) : image.code && !image.code->kernels.empty());
    return ptx && whole && image.entry.arch.suffix == Suffix::none;
  });
}

// "sm_86 or of an older 8.x"; each by its name where the fat binary holds one of an older 8.x that does not
// serve the device, such as a Tegra chip's.
std::string sass_needed_for(const FatbinCode& code, ComputeCapability device) {
  const Arch own = arch_of(device);
  std::vector<std::string> names = {"sm_" + to_string(own)};
  const auto& known = known_devices();
  for (auto older = known.rbegin(); older != known.rend(); ++older) {
    const Arch arch = arch_of(*older);
    if (arch.number < own.number && sass_fits(arch, device) == Fit::yes)
      names.push_back("sm_" + to_string(arch));
  }
  if (names.size() == 1) return names[0];
  const bool is_held = std::any_of(code.images.begin(), code.images.end(), [&](const Image& image) {
    const FatbinEntry& entry = image.entry;
    return is_native(entry.kind) && entry.arch.suffix == Suffix::none && entry.arch.number < own.number &&
           capability_of(entry.arch).major == device.major && fit_of(entry, device) == Fit::no;
  });
  if (!is_held) return names[0] + " or of an older " + std::to_string(device.major) + ".x";
  const std::string oldest = std::move(names.back());
  names.pop_back();
  return join(names, ", ") + " or " + oldest;
}

// What would have served this device.
std::string needed_for(const FatbinCode& code, ComputeCapability device, const Use& use) {
  const std::string own = to_string(arch_of(device));
  const bool ltoir = use.step == Step::link &&
                     std::any_of(code.images.begin(), code.images.end(),
                                 [](const Image& image) { return image.entry.kind == EntryKind::ltoir; });
  const std::string ptx = (ltoir ? "LTO-IR or PTX of compute_" : "PTX of compute_") + own + " or older";
  if (use.step != Step::link && !use.environment.forces_jit.empty())
    return use.environment.forces_jit + " makes the driver pass over SASS, so it needs " + ptx;
  const auto is_of_other_linkers = [&](const Image& image) {
    return image.entry.kind == EntryKind::ltoir && ptx_fits(image.entry.arch, device) == Fit::yes &&
           !is_linked_for(image.entry.ltoir_version, device);
  };
  if (use.step == Step::link && std::any_of(code.images.begin(), code.images.end(), is_of_other_linkers))
    return "no linker that takes LTO-IR of its CUDA makes code for " + to_string(device) +
           "; it needs LTO-IR of another CUDA, SASS of sm_" + own + " or PTX of compute_" + own + " or older";
  return "it needs SASS of " + sass_needed_for(code, device) + (code.fatbin.offload ? "" : ", or " + ptx);
}

// Nothing but parts for a linker, relocatable code beside LTO-IR, which is for the device?
bool may_be_linked(const FatbinCode& code, ComputeCapability device, const Use& use) {
  const auto is_relocatable = [](const Image& image) { return image.code && image.code->relocatable; };
  const auto is_part = [&](const Image& image) {
    return image.entry.kind == EntryKind::ltoir || is_relocatable(image);
  };
  const auto is_linked = [&](const Image& image) {
    return image.entry.kind == EntryKind::ltoir && ptx_fits(image.entry.arch, device) == Fit::yes &&
           is_linked_for(image.entry.ltoir_version, device);
  };
  return use.step == Step::load && std::all_of(code.images.begin(), code.images.end(), is_part) &&
         std::any_of(code.images.begin(), code.images.end(), is_relocatable) &&
         std::any_of(code.images.begin(), code.images.end(), is_linked);
}

// Has the driver the error kJitDisabled?
bool has_jit_disabled(const Device& device, const Use& use) {
  constexpr Version kFirstJitDisabledError{11, 8};  // cuda.h of 11.8 has it, and of 10.2 not
  const auto driver = use.stated_driver ? use.stated_driver : device.driver_cuda;
  return !driver || kFirstJitDisabledError <= *driver;
}

// Of PTX by itself that does not fit, which the driver compiles all the same.
void add_sooner(const FatbinEntry& entry, const Device& device, const Use& use, Judgement& judgement) {
  if (entry.kind != EntryKind::ptx) return;
  if (!use.environment.disables_jit.empty()) {
    judgement.sooner = {kJitDisabled, "; " + use.environment.disables_jit +
                                          " keeps the driver from compiling PTX, which comes first"};
    judgement.numbered = has_jit_disabled(device, use);
    return;
  }
  const auto driver = use.stated_driver ? use.stated_driver : newest_driver(device);
  if (!entry.ptx_isa || !driver || device.cuda_at_least) return;
  if (driver_takes_ptx(*entry.ptx_isa, *driver) != Fit::no) return;
  judgement.sooner = {use.stated_driver ? error_of_newer_ptx(*driver) : kUnsupportedPtxVersion,
                      "; its ISA " + to_string(*entry.ptx_isa) +
                          " is newer than the driver's compiler, too, which says so first"};
}

Judgement judge_choice(const FatbinCode& code, const Device& device, const Use& use) {
  const ComputeCapability capability = *device.capability;
  const Choice choice = choose(code, capability, use);
  const bool decided = choice.native && is_exact(code.images[*choice.native].entry, capability);
  if (!choice.undecided.empty() && !decided) return not_known(choice.undecided);
  const auto taken = choice.native ? choice.native : choice.ptx;
  if (taken && !choice.native && use.step != Step::link && !use.environment.disables_jit.empty()) {
    Judgement judgement = failed(
        kJitDisabled,
        "only its PTX fits, and " + use.environment.disables_jit + " keeps the driver from compiling PTX",
        taken);
    judgement.numbered = has_jit_disabled(device, use);
    return judgement;
  }
  if (taken) {
    Judgement judgement = judge_loading(code, *taken, device, use);
    judgement.image = taken;
    if (judgement.code == kInvalidPtx && use.step == Step::load)
      add_sooner(code.images[*taken].entry, device, use, judgement);
    return judgement;
  }
  if (may_be_linked(code, capability, use))
    return not_known(
        "no driver loads what it holds, which is made for a linker; it may link the LTO-IR for this device, "
        "at the latest when the program runs (nvJitLink), which the file does not tell");
  // Not required of a device that none of its images is for; one that is passed over is for it.
  const bool passed_over = !use.environment.forces_jit.empty() &&
                           choose(code, capability, {use.step, JitEnvironment{}}).native.has_value();
  const bool text = is_image_by_itself(code.fatbin) && code.fatbin.entries[0].kind == EntryKind::ptx;
  Judgement judgement = failed(error_where_none_fits(text), needed_for(code, capability, use));
  if (code.images.size() == 1 && (text || code.fatbin.bare))
    add_sooner(code.images[0].entry, device, use, judgement);
  if (is_specific(code) && !passed_over && use.step != Step::relink) judgement.verdict = Verdict::specific;
  return judgement;
}

}  // namespace

std::optional<Version> toolkit_of(const Image& image) {
  if (image.code && image.code->toolkit) return image.code->toolkit;
  if (image.entry.ltoir_version != 0) return toolkit_of_ltoir(image.entry.ltoir_version);
  return image.entry.ptx_isa ? lowest_driver_cuda_for_ptx(*image.entry.ptx_isa) : std::nullopt;
}

Judgement as_seen(Judgement judgement) {
  if (judgement.code != kInvalidPtx || !judgement.sooner) return judgement;
  judgement.code = judgement.sooner->code;
  judgement.reason += judgement.sooner->reason;
  return judgement;
}

bool is_linkable(const FatbinCode& code) {
  return std::any_of(code.images.begin(), code.images.end(),
                     [&](const Image& image) { return is_linkable(image, code); });
}

Judgement require(Judgement judgement, const JudgePolicy& policy) {
  const bool covered = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
  if (!covered) return judgement;
  if (policy.require_driver && judgement.needs_driver)
    return not_known("the driver of this device is not given; it must offer CUDA " +
                     to_string(*judgement.needs_driver) + " or newer");
  if (policy.require_sass && judgement.verdict == Verdict::jit)
    return failed(0,
                  judgement.linked_at_load ? "only linking it when it is loaded serves, and SASS is required"
                                           : "only PTX fits, and SASS is required",
                  judgement.image);
  return judgement;
}

Judgement judge(const FatbinCode& code, const Device& device, const JudgePolicy& given) {
  JudgePolicy policy = given;
  if (is_cubin_by_itself(code.fatbin)) policy.environment.forces_jit.clear();
  const bool relocatable = code.fatbin.relocatable;
  if (code.fatbin.emptied) {
    Judgement judgement = not_known(
        "host code registers it and it holds no image, as nvprune leaves code for other architectures: what "
        "was in it is not told, and a kernel of it cannot be launched on any device");
    judgement.mend =
        "take the library as it was before nvprune, or keep what each of its objects holds: "
        "cuobjdump --list-elf --list-ptx shows it";
    return judgement;
  }
  if (relocatable && code.linked) return {};
  if (!asks_for_image(code) && !is_linkable(code)) return {};

  if (code.fatbin.behind_another) {
    Judgement judgement = not_known(
        "of the fat binaries of an object, nvlink reads the first alone, and this one is behind it: a "
        "program "
        "has it only where nvcc -dlink took it before `ld -r` joined the objects");
    judgement.mend = kLinkEachObject;
    return judgement;
  }
  const Step step = relocatable ? Step::link : Step::load;
  const Judgement judgement =
      require(judge_choice(code, device, {step, policy.environment, policy.newer_sass, policy.stated_driver}),
              policy);
  const bool covered = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
  if (covered && policy.require_ptx && !holds_plain_ptx(code))
    return failed(0, "it holds no plain PTX, which is required", judgement.image);
  return judgement;
}

Judgement judge_part(const FatbinCode& code, const Device& device, const JitEnvironment& environment) {
  Judgement judgement = judge_choice(code, device, {Step::relink, environment});
  judgement.numbered = false;
  return judgement;
}

namespace {

template <class Named>  // sorted by name
bool has_named(const std::vector<Named>& all, const std::string& name) {
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Named& each, const std::string& text) { return each.name < text; });
  return found != all.end() && found->name == name;
}

}  // namespace

bool has_variable(const Image& image, const std::string& name) {
  return has_named(image.code->variables, name);
}

bool has_kernel(const Image& image, const std::string& name) {
  return has_named(image.code->kernels, name);
}

KernelGaps compare_kernels(const FatbinCode& code, std::size_t taken) {
  KernelGaps gaps;
  if (!code.images[taken].code) return gaps;
  const auto& held = code.images[taken].code->kernels;
  auto next = held.begin();  // both lists are sorted by name
  for (const KernelName& kernel : code.kernels) {
    while (next != held.end() && next->name < kernel.name) ++next;
    if (next == held.end() || next->name != kernel.name) {
      gaps.missing.push_back(kernel.name);
    } else if (is_hollow(next->state)) {
      (kernel.real ? gaps.hollow : gaps.idle).push_back(kernel.name);
    }
  }
  for (const std::string& name : code.variables)
    if (!has_variable(code.images[taken], name)) gaps.variables.push_back(name);
  return gaps;
}

std::string describe_images(const FatbinCode& code) {
  std::vector<std::string> found;
  bool ptx = false;
  for (const Image& image : code.images) {
    const std::string arch = to_string(image.entry.arch);
    std::string text;
    switch (image.entry.kind) {
      case EntryKind::sass:
        text = image_name(image.entry) + " cubin";
        break;
      case EntryKind::ltoir:
        text = image.entry.optix || image.entry.own_arch ? image_name(image.entry) : "LTO-IR lto_" + arch;
        break;
      case EntryKind::reloc_ptx:
        text = "relocatable PTX compute_" + arch;
        break;
      case EntryKind::other:
        text = is_tile_ir(image.entry) ? "CUDA " + image_name(image.entry)
                                       : "unknown kind " + hex(image.entry.kind_code);
        break;
      case EntryKind::ptx:
        ptx = true;
        text = "PTX compute_" + arch;
        if (image.entry.ptx_isa) text += " (ISA " + to_string(*image.entry.ptx_isa) + ")";
        break;
    }
    const bool says_so = !code.kernels.empty() || !has_any_of(image, code);
    if (image.code && image.code->kernels.empty() && says_so) text += " without kernels";
    found.push_back(std::move(text));
  }
  if (found.empty()) return "nothing";
  if (!ptx) found.emplace_back("no PTX");
  return join(found, ", ");
}

}  // namespace archguard
