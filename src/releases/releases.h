#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"

// Which release of a package supports which GPU, as bench/releases measured it from the wheels on PyPI
// (docs/measured/releases.md). What is not in the table is not known.
namespace archguard {

// A device that a release supports, as `archguard verify` judged it.
struct ServedDevice {
  ComputeCapability device;
  Version driver;       // the lowest CUDA that its driver has to offer
  bool jit = false;     // some of the code is PTX, which the driver compiles
  bool partly = false;  // it gets far less than other devices do
};

struct Release {
  std::string package;                // "torch"
  std::string version;                // "2.7.1"
  std::string platform;               // "x86_64", "aarch64" (both Linux), "windows"
  std::optional<Version> cuda;        // that it was built with
  std::vector<Arch> sass, sass_some;  // of most fat binaries of its main library, and of some
  std::vector<Arch> ptx, ptx_some;
  std::vector<ServedDevice> devices;
  std::vector<Version> ptxas;  // of a compiler (triton): the releases of the copies that it brings, ascending
  // Files beside the main library that do not support a device which the main library supports:
  // "7.5:libtorch_cuda_linalg.so".
  std::vector<std::string> lacking;
  std::vector<Version> pythons;  // ascending
  bool newer_pythons = false;    // and those that follow
  std::string glibc;             // "2.28": the oldest that one of its wheels is for; empty on Windows
  std::vector<std::string>
      companions;        // what its metadata pins: "triton==3.3.1", or a range: "torch>=2.4,<3"
  std::string measured;  // "2026-11-23"
};

// A device that is asked for, with the CUDA of its driver where that is told.
struct AskedDevice {
  ComputeCapability device;
  std::optional<Version> driver;
};

// All, by package and platform, the newest release first. Of each minor release the last patch was measured.
// PyPI's spellings of a name are equal that differ in letters and in '-', '_' and '.': "flashinfer-python".
std::string normal_name(std::string_view name);
const std::vector<Release>& measured_releases();
// Those of a package, in any of PyPI's spellings, on a platform.
std::vector<const Release*> releases_of(std::string_view package, std::string_view platform);
std::vector<std::string> measured_packages();  // names, each once
std::vector<std::string> measured_platforms_of(std::string_view package);
std::vector<std::string> platforms();  // that may be asked for

// `unknown` for a device that the bench did not ask for: newer than it.
enum class Serves { no, partly, yes, unknown };
Serves serves(const Release& release, const AskedDevice& asked);
// The measured release of a package that its metadata pins and that does not serve the device: pip installs
// it along. Of each minor release the last patch stands for all. nullptr where there is none.
const Release* companion_without(const Release& release, const AskedDevice& asked);
// How, where it does; nullptr else, and for a compiler.
const ServedDevice* served_device(const Release& release, ComputeCapability device);
// The lowest CUDA that a driver has to offer for it: for its code, or for what its compiler makes. Nothing
// where it does not serve the device.
std::optional<Version> lowest_driver_for(const Release& release, ComputeCapability device);
std::optional<Version> lowest_driver_for(const Release& release,
                                         const std::vector<AskedDevice>& devices);  // for all that it serves
// The image of its main library that the device gets: "sm_60", "PTX 9.0"; empty where that is not told.
std::string image_for(const Release& release, ComputeCapability device);

bool has_python(const Release& release, Version python);
// "3.9 to 3.13", "3.9 and newer", "3.9, 3.11".
std::string pythons_text(const Release& release);

// The newest release that supports all of these devices, as those that it pins do, with a wheel for this
// Python where one is told; nullptr where none does.
const Release* newest_serving(std::string_view package, std::string_view platform,
                              const std::vector<AskedDevice>& devices, std::optional<Version> python = {});

// What that line installs beside it: "torchvision==0.22.1".
std::vector<std::string> installed_along(const Release& release);
// Measured releases of other packages whose metadata pins this one: "torchvision==0.22.1".
std::vector<std::string> pinned_by(const Release& release);

struct ReleasesQuestion {
  std::string package;  // as the table has it
  std::string platform;
  std::vector<AskedDevice> devices;
  std::optional<Version> python;
  // What is installed beside the release stays as it is: install_line() names the release alone.
  bool keeps_installed = false;
};

// A newer release that supports the devices, but for a driver.
struct NeedsDriver {
  const Release* release = nullptr;
  AskedDevice asked;  // whose driver is too old
  Version driver;     // the lowest CUDA that it has to offer there
};

// What the table answers.
struct ReleaseChoice {
  const Release* newest = nullptr;  // measured
  const Release* found = nullptr;   // the newest that serves all of the devices, with a wheel for the Python
  const Release* other_python = nullptr;    // likewise with a wheel for another Python; none where `found` is
  std::optional<NeedsDriver> needs_driver;  // and is newer than told()
  const Release* told() const { return found != nullptr ? found : other_python; }
};
ReleaseChoice choose_release(const ReleasesQuestion& question);

// "pip install torch==2.7.1 torchvision==0.22.1": with the measured torchvision that pins it, and the torch
// that serves the devices where the metadata asks for a range that holds newer ones.
std::string install_line(const Release& release, const ReleasesQuestion& question);
// Of told(), where only another Python has a wheel.
std::string install_line(const ReleaseChoice& choice, const ReleasesQuestion& question);

// ---- words, each empty where there is nothing to say ----

// Builds that their project documents for all of the devices and that were not measured; with what was not
// measured of the Python, and what the driver is too old for. Nothing where the newest measured release
// serves them.
std::string documented_elsewhere(const ReleasesQuestion& question);
// "torch 2.15.0 needs a driver of CUDA 13.0 (driver 580) or newer"; of several devices with the one in
// question.
std::string needs_driver_text(const ReleaseChoice& choice, const ReleasesQuestion& question);
// "torchvision 0.23.0 supports 6.1 itself, but pins torch 2.8.0, which does not": of the newest release that
// was passed over for that.
std::string pins_another(const ReleaseChoice& choice, const ReleasesQuestion& question);
// Where torch hands none of its code to Triton for a device that the release supports: torch.compile ends
// there.
std::string refused_by_torch_compile(const Release& release, const std::vector<AskedDevice>& devices);
// The line to type for what is not in the table: "archguard verify WHEEL --scope library --device 8.6".
std::string judge_by_file(std::string_view device);

std::string releases_text(const ReleasesQuestion& question);
std::string releases_json(const ReleasesQuestion& question);  // "archguard.releases/1"

}  // namespace archguard
