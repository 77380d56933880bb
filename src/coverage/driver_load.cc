#include "coverage/driver_load.h"

#include <algorithm>

#include "compat/driver.h"
#include "compat/rules.h"
#include "coverage/device_refusal.h"
#include "coverage/fit.h"
#include "coverage/fix.h"

namespace archguard {
namespace {

// The lowest CUDA of a driver that SASS asks for where nobody tells the driver: older ones go without saying.
constexpr Version kFirstToBeAsked{12, 0};

void need_driver(Judgement& judgement, Version cuda) {
  if (!judgement.needs_driver || *judgement.needs_driver < cuda) judgement.needs_driver = cuda;
}

// "; this one offers CUDA 12.0"
std::string offers_text(const std::string& driver, const Device& device, const Use& use) {
  const std::string last = "; the last driver of " + to_string(*device.capability);
  return (use.last_driver ? last : driver) + " offers CUDA " + to_string(*device.driver_cuda);
}

// Cubins of ABI 8 for archs before sm_100 are CUDA 13's.
SassMaker maker_of(const Image& image) {
  SassMaker maker{toolkit_of(image), image.code->cubin_abi};
  if (!maker.toolkit && maker.abi == kNewCubinAbi && image.entry.arch.number < 100)
    maker.toolkit = Version{13, 0};
  return maker;
}

bool has_large_parameters(const Image& image) {
  return image.code && image.code->parameters > kParametersMost;
}

// Does it ask for more of the driver than the toolkit does that made it?
bool wants_more(const Image& image) {
  return has_large_parameters(image) || (image.code && image.code->newest_call);
}

// "a kernel of its PTX takes 8008 bytes of parameters; more than 4352 "
std::string parameters_text(const Image& image, const std::string& of) {
  return "a kernel of its " + of + " takes " + std::to_string(image.code->parameters) +
         " bytes of parameters; more than " + std::to_string(kParametersMost) + " ";
}

// The parameters or the function that ask for a driver of that CUDA.
std::string what_it_wants(const Image& image, Version lowest) {
  const std::string of = image_name(image.entry) + " image";
  if (const auto& call = image.code->newest_call; call && call->since == lowest)
    return call_text("its " + of, *call);
  return parameters_text(image, of) + "need a driver of CUDA " + to_string(kFirstLargeParametersDriver) +
         " or newer";
}

// The driver is handed a cubin that fits the device. Does it load what this toolkit makes?
Judgement load_sass(const Image& image, std::size_t index, const Device& device, const Use& use,
                    Judgement judgement) {
  const SassMaker maker = maker_of(image);
  const auto lowest = lowest_driver_for_sass(image), of_maker = lowest_driver_cuda_for_sass(maker);
  if (!lowest || use.newer_sass) return judgement;
  if (!device.driver_cuda) {
    // Programs of older toolkits run on any driver that is still met.
    const bool asks = *lowest >= kFirstToBeAsked || wants_more(image);
    if (asks || !may_ever_offer(*device.capability, *lowest)) need_driver(judgement, *lowest);
    return judgement;
  }
  const Fit taken = driver_takes_sass(maker, *device.driver_cuda);
  const std::string offers = offers_text("; this one", device, use);
  if (taken == Fit::yes && *lowest <= *device.driver_cuda) return judgement;
  if (taken == Fit::yes) {
    Judgement refused = not_known(what_it_wants(image, *lowest) + offers);
    need_driver(refused, *lowest);
    return refused;
  }
  const auto known = toolkit_of(image);
  const std::string made = "its " + image_name(image.entry) + " image was made by CUDA " +
                           (known ? to_string(*known) : to_string(*of_maker) + " or newer") + ", ";
  Judgement refused =
      taken == Fit::no
          ? failed(kInvalidKernelImage,
                   made + "which drivers load from CUDA " + to_string(*of_maker) + " on" + offers, index)
          : not_known(made + "which NVIDIA promises to run on drivers from CUDA " + to_string(*of_maker) +
                      " on" + offers);
  refused.code = kInvalidKernelImage;
  need_driver(refused, *lowest);
  return refused;
}

Judgement refused_for(const DeviceRefusal& refusal, const Device& device, const Use& use, std::size_t index) {
  const bool told = use.step != Step::link && device.driver_cuda && refusal.not_refused;
  const bool passes = told && refusal.not_refused->has(*device.driver_cuda);
  Judgement judgement = passes ? not_known(refusal.reason + ", but the compiler of this driver, CUDA " +
                                           to_string(*device.driver_cuda) +
                                           ", may let it pass, and what then happens is not known")
                        : refusal.in_doubt && !told ? not_known(refusal.reason)
                                                    : failed(refusal.code, refusal.reason, index);
  judgement.mend = refusal.mend;
  if (refusal.taken_from)
    judgement.mend +=
        (judgement.mend.empty() ? "" : ", or ") + update_driver(*refusal.taken_from, *device.capability);
  judgement.needs_driver = refusal.taken_from;
  judgement.numbered = refusal.code != kUnsupportedDeviceSync || !device.driver_cuda ||
                       kFirstDeviceSyncError <= *device.driver_cuda;
  return judgement;
}

// A driver that does not know zstd refuses the image. Where nobody told the driver, `judgement` gets what it
// needs.
std::optional<Judgement> refuse_zstd(const Image& image, std::size_t index, const Device& device,
                                     const Use& use, Judgement& judgement) {
  if (image.entry.compression != Compression::zstd) return std::nullopt;
  if (!device.driver_cuda) {
    need_driver(judgement, kFirstZstdDriver);
    return std::nullopt;
  }
  if (driver_takes_zstd(*device.driver_cuda)) return std::nullopt;
  Judgement unreadable =
      failed(kInvalidKernelImage,
             "its image is compressed with zstd, which drivers know from CUDA " +
                 to_string(kFirstZstdDriver) + " on" + offers_text("; this one", device, use),
             index);
  need_driver(unreadable, kFirstZstdDriver);
  if (const auto lowest =
          image.entry.ptx_isa ? lowest_driver_cuda_for_ptx(*image.entry.ptx_isa) : std::nullopt)
    need_driver(unreadable, *lowest);
  if (judgement.verdict == Verdict::sass)
    if (const auto lowest = lowest_driver_for_sass(image)) need_driver(unreadable, *lowest);
  return unreadable;
}

// Error 222, or what number_for_driver() makes of it: a driver that is older than this PTX ISA. Likewise.
std::optional<Judgement> refuse_isa(Version isa, std::size_t index, const Device& device, const Use& use,
                                    Judgement& judgement) {
  if (!device.driver_cuda) {
    const auto lowest = lowest_driver_cuda_for_ptx(isa);
    if (!lowest) return not_known("which driver takes PTX ISA " + to_string(isa) + " is not known");
    need_driver(judgement, *lowest);
    return std::nullopt;
  }
  const Fit taken = driver_takes_ptx(isa, *device.driver_cuda);
  if (taken == Fit::yes) return std::nullopt;
  if (taken == Fit::unknown)
    return not_known("whether a driver with CUDA " + to_string(*device.driver_cuda) + " takes PTX ISA " +
                     to_string(isa) + " is not known");
  if (device.cuda_at_least)
    return not_known("its PTX has ISA " + to_string(isa) +
                     "; the driver is newer than any that is known, and offers CUDA " +
                     to_string(*device.driver_cuda) +
                     " at least: the column driver_cuda of the fleet file can tell");
  const auto newest = newest_ptx_for_driver(*device.driver_cuda);
  Judgement too_new = failed(kUnsupportedPtxVersion,
                             "its PTX has ISA " + to_string(isa) + offers_text("; the driver", device, use) +
                                 (newest ? " and takes PTX up to ISA " + to_string(*newest) : ""),
                             index);
  too_new.needs_driver = lowest_driver_cuda_for_ptx(isa);
  return too_new;
}

// Error 218: PTX with more parameters than compilers take.
std::optional<Judgement> refuse_parameters(const Image& image, Version isa, std::size_t index) {
  if (has_large_parameters(image) && !takes_large_parameters(isa, image.entry.arch))
    return failed(kInvalidPtx, parameters_text(image, "PTX") + "need PTX ISA 8.1 and a target from sm_70 on",
                  index);
  if (image.code->parameters > kLargeParametersMost)
    return failed(kInvalidPtx,
                  "a kernel of its PTX takes " + std::to_string(image.code->parameters) +
                      " bytes of parameters; compilers take " + std::to_string(kLargeParametersMost),
                  index);
  return std::nullopt;
}

// PTX for linking that the driver is handed by itself. Of variables that are missing ptxas 11.7 to 13.5 only
// warn ("ignoring extern qualifier"), and nvJitLink 12.0 to 13.5 refuses them.
Judgement refuse_unlinked(const FatbinCode& code, std::size_t index) {
  const ImageKernels& ptx = *code.images[index].code;
  std::string reason =
      "its PTX is made for linking: '" + ptx.unresolved + "' is declared in it and not defined";
  if (code.fatbin.in_data || code.fatbin.bare)
    return not_known(reason +
                     "; whether something links it, at the latest when the program runs (nvJitLink, "
                     "cuLinkAddData), the file does not tell");
  if (ptx.lacks_variables_alone)
    return not_known(reason + "; that is a variable, of which ptxas only warns, and which nvJitLink refuses");
  return failed(kInvalidPtx, std::move(reason), index);
}

// PTX that fits the device: does the driver compile it?
Judgement load_ptx(const FatbinCode& code, std::size_t index, const Device& device, const Use& use,
                   const std::optional<DeviceRefusal>& refusal, Judgement judgement) {
  const Image& image = code.images[index];
  const bool sure = refusal && !refusal->taken_from && !refusal->in_doubt;
  if (image.code->relocatable && use.step == Step::load && !sure) {
    Judgement unlinked = refuse_unlinked(code, index);
    const bool by_driver = unlinked.verdict == Verdict::unknown && !code.fatbin.in_data && !code.fatbin.bare;
    const bool too_new = by_driver && device.driver_cuda && image.entry.ptx_isa &&
                         driver_takes_ptx(*image.entry.ptx_isa, *device.driver_cuda) == Fit::no;
    if (!too_new) return unlinked;
  }
  if (!image.entry.ptx_isa) return not_known("the ISA version of its PTX is not known");
  const Version isa = *image.entry.ptx_isa;
  if (auto refused = refuse_isa(isa, index, device, use, judgement)) return *std::move(refused);
  if (refusal && refusal->taken_from && !device.driver_cuda)
    need_driver(judgement, *refusal->taken_from);
  else if (refusal && (!refusal->taken_from || *device.driver_cuda < *refusal->taken_from))
    return refused_for(*refusal, device, use, index);
  if (auto refused = refuse_parameters(image, isa, index)) return *std::move(refused);
  return judgement;
}

// The driver links the cubin again: does it take what this toolkit makes?
Judgement relink_sass(const Image& image, std::size_t index, const Device& device, Judgement judgement) {
  const auto linker = toolkit_of(image);  // that of the driver must be as new
  if (!linker) return not_known("which toolkit made its " + image_name(image.entry) + " image is not known");
  if (!device.driver_cuda) {
    need_driver(judgement, *linker);
  } else if (*device.driver_cuda < *linker) {
    Judgement too_new =
        failed(kNoKernelImage,
               "its " + image_name(image.entry) + " image was made by CUDA " + to_string(*linker) +
                   "; a driver links images up to its own CUDA, " + to_string(*device.driver_cuda),
               index);
    need_driver(too_new, *linker);
    return too_new;
  }
  return judgement;
}

// The driver has made its choice: what happens when it loads that image?
Judgement try_driver(const FatbinCode& code, std::size_t index, const Device& device, const Use& use) {
  const Image& image = code.images[index];
  Judgement judgement;
  judgement.image = index;
  judgement.verdict = is_native(image.entry.kind) ? Verdict::sass : Verdict::jit;
  const auto refusal = device_refusal_of(image, *device.capability);
  if (use.step == Step::link) {  // by nvlink, which needs no driver
    if (refusal && !refusal->taken_from) return refused_for(*refusal, device, use, index);
    // What comes of OpenMP's or SYCL's needs no runtime, whose driver would be asked for; and no linker makes
    // it older.
    const bool is_told = judgement.verdict == Verdict::sass && is_for_offload_library(code);
    return is_told ? load_sass(image, index, device, use, std::move(judgement)) : judgement;
  }
  if (auto refused = refuse_zstd(image, index, device, use, judgement)) return *std::move(refused);
  if (judgement.verdict == Verdict::jit)
    return load_ptx(code, index, device, use, refusal, std::move(judgement));
  return use.step == Step::load ? load_sass(image, index, device, use, std::move(judgement))
                                : relink_sass(image, index, device, std::move(judgement));
}

}  // namespace

Fit driver_loads(const Image& image, Version driver_cuda) {
  const Fit taken = driver_takes_sass(maker_of(image), driver_cuda);
  const auto lowest = lowest_driver_for_sass(image);
  return taken == Fit::yes && lowest && driver_cuda < *lowest ? Fit::unknown : taken;
}

Judgement failed(int code, std::string reason, std::optional<std::size_t> image) {
  Judgement judgement;
  judgement.verdict = Verdict::uncovered;
  judgement.code = code;
  judgement.reason = std::move(reason);
  judgement.image = image;
  return judgement;
}

std::optional<Version> lowest_driver_for_sass(const Image& image) {
  auto lowest = lowest_driver_cuda_for_sass(maker_of(image));
  if (has_large_parameters(image)) lowest = std::max(lowest, std::optional(kFirstLargeParametersDriver));
  if (image.code && image.code->newest_call)
    lowest = std::max(lowest, std::optional(image.code->newest_call->since));
  return lowest;
}

Judgement not_known(std::string reason) {
  Judgement judgement;
  judgement.verdict = Verdict::unknown;
  judgement.reason = std::move(reason);
  return judgement;
}

// Where nobody told the driver, and even the newest that the device ever gets is too old, it fails on that.
Judgement judge_loading(const FatbinCode& code, std::size_t index, const Device& device, const Use& use) {
  Judgement judgement = try_driver(code, index, device, use);
  const auto last = last_driver_cuda_for(*device.capability);
  if (device.driver_cuda || !last || !judgement.needs_driver || *judgement.needs_driver <= *last)
    return judgement;
  Device newest = device;
  newest.driver_cuda = last;
  return try_driver(code, index, newest, {use.step, use.environment, use.newer_sass, {}, true});
}

}  // namespace archguard
