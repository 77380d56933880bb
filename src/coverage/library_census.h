#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compat/arch.h"
#include "coverage/fatbin_code.h"
#include "coverage/judge_fatbin.h"

namespace archguard {

// Kernels of a library's fat binaries that fit a device: the image that it takes holds them.
struct KernelSum {
  std::uint64_t fit = 0;
  std::uint64_t working = 0;   // of these, do something: neither return at once nor trap
  std::uint64_t compiled = 0;  // of the working ones, are compiled from PTX
};
void add_to(KernelSum& sum, const KernelSum& more);

// A device that gets far less of a library than others do.
struct Partly {
  // Kernels that fit this device, and the device of the table which most fit. Where those that do nothing
  // make another picture: of the others.
  std::uint64_t kernels = 0, best = 0;
  ComputeCapability best_device = {};
  // Of the fat binaries that two thirds of the devices with SASS get something of, those that this device
  // does: where it gets enough kernels, and few of these. Else both are 0.
  std::uint64_t fatbins = 0, core_fatbins = 0;
  bool clear = false;                 // the library was not made for this device; else perhaps
  bool compiles_at_run_time = false;  // what it lacks may be compiled when the program runs: never `clear`
  // The device is served as others are, and its own driver refuses a part of it, which a driver of this CUDA
  // takes. `best` is then what this device gets with that one; never `clear`.
  std::optional<Version> needs_driver;
};

// What each device that the table of architectures knows gets of a library, whatever devices are asked for:
// who is served well is known from the others alone. It is counted fat binary by fat binary, and one number
// is kept for each set of devices that kernels fit: no names.
//
// The rule was found on libraries whose makers name their devices (docs/measured/libraries.md). A share of
// all kernels does not separate those from others: makers add kernels for some devices by the thousand. What
// does is the share of what the best-served device gets, with a higher bar where most is compiled from PTX:
// what one source file leaves as PTX fits devices that nobody built the library for, and SASS was made on
// purpose. A device that gets the core beside it is not far behind: the kernels that at least half of the
// devices with SASS get. One that gets most kernels is in doubt where they come from few fat binaries: a
// library that brings another's, and has its own for other devices.
class LibraryCensus {
 public:
  // `devices` are those asked for: what they get of each fat binary is counted too where the table lacks
  // them.
  explicit LibraryCensus(const std::vector<ComputeCapability>& devices);

  void add(const FatbinCode& code);

  // Of the fat binary that was added last: what a device that takes this image gets.
  KernelSum of_image(std::size_t image, Verdict verdict) const;

  std::uint64_t kernels() const { return kernels_; }  // of all fat binaries
  // Can devices be compared? Not where no kernel does anything on any of them, nor where what is to be linked
  // holds LTO-IR alone, whose kernels are not read.
  bool tells() const;

  // `got` is what fits the device as it is, with its driver. Nothing where it is served as others are.
  // Precondition: tells(), and got.working is not 0.
  std::optional<Partly> judge(const KernelSum& got, ComputeCapability device);
  // The same in numbers alone: as they are told, and of kernels that do something.
  Partly told(const KernelSum& got) const;
  Partly working(const KernelSum& got) const;

  // What the device gets where its driver takes everything.
  KernelSum with_any_driver(ComputeCapability device) const;

 private:
  using Devices = std::uint64_t;  // a bit for each of devices_
  struct ImageKernels {
    std::uint64_t fit = 0, working = 0;
  };

  Partly compare(const KernelSum& got, std::uint64_t KernelSum::*count) const;
  void count_kernels(const FatbinCode& code, const std::vector<Devices>& takers);
  void add_taken(std::size_t device, const KernelSum& taken);
  void count_core();
  std::uint64_t most_of_known(const std::vector<std::uint64_t>& by_device) const;
  // Of a device with enough kernels.
  std::optional<Partly> judge_fatbins(const KernelSum& got, ComputeCapability device);
  bool has_core(const KernelSum& got, ComputeCapability device, const std::vector<std::uint64_t>& core) const;
  std::optional<std::size_t> index_of(ComputeCapability device) const;

  std::vector<Device> devices_;               // the table's first
  std::size_t known_ = 0;                     // of them are in the table
  std::vector<KernelSum> sums_;               // by device
  std::map<Devices, std::uint64_t> working_;  // kernels that work on these devices alone
  Devices made_for_ = 0;                      // of the table: with SASS that works
  std::map<Devices, std::uint64_t> fatbins_;  // of which these devices get something that works
  std::vector<std::uint64_t> core_;           // core kernels, by device; counted when they are asked for
  std::vector<std::uint64_t> wide_core_;      // likewise
  std::vector<std::uint64_t> core_fatbins_;   // likewise
  std::vector<ImageKernels> last_;            // by image, of the fat binary that was added last
  std::uint64_t kernels_ = 0;
  bool counted_ = true;  // all kernels of all fat binaries
};

}  // namespace archguard
