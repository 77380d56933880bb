#include "coverage/header_fit.h"

#include <doctest/doctest.h>

using namespace archguard;

namespace {

// Of a file with 1000 bytes for the device that most fit.
FileFit fit_of(std::uint64_t sass, std::uint64_t jit, std::uint64_t none, std::uint64_t bytes) {
  FileFit fit;
  fit.sass = sass;
  fit.jit = jit;
  fit.none = none;
  fit.fitting_bytes = bytes;
  fit.best_bytes = 1000;
  return fit;
}

bool is_served(FileFit fit) {
  return decide_by_headers(fit) && fit.state == FileFit::State::served;
}

}  // namespace

TEST_CASE("a device with SASS in few of many fat binaries is served, as NVIDIA's libraries do it") {
  CHECK(is_served(fit_of(41, 0, 669, 188)));   // cuSPARSELt on 8.0
  CHECK(is_served(fit_of(99, 0, 4, 93)));      // cuSOLVERMg on 7.5
  CHECK(is_served(fit_of(473, 0, 680, 238)));  // cuDNN's engines on 7.5
  CHECK(is_served(fit_of(191, 0, 2, 304)));    // cuBLAS on 8.0
}

TEST_CASE("the kernels are counted where a device gets the little that happens to fit") {
  FileFit of_ptx = fit_of(0, 4, 99, 346);  // cuSOLVERMg on 11.0
  CHECK_FALSE(decide_by_headers(of_ptx));
  FileFit of_sass = fit_of(34, 0, 134, 32);  // cuSPARSE on 7.0
  CHECK_FALSE(decide_by_headers(of_sass));
  FileFit of_many = fit_of(0, 42, 126, 126);  // cuSPARSE on 10.1
  CHECK_FALSE(decide_by_headers(of_many));
}

TEST_CASE("headers alone decide where nothing fits, or all") {
  FileFit lacking = fit_of(0, 0, 5, 0);
  CHECK(decide_by_headers(lacking));
  CHECK(lacking.state == FileFit::State::lacking);
  CHECK(is_served(fit_of(0, 5, 0, 10)));
}

TEST_CASE("what does not fit may be linked when it is loaded, from the PTX of a device link's objects") {
  FileFit linked = fit_of(0, 0, 1, 0);
  linked.to_link = 2;
  CHECK_FALSE(decide_by_headers(linked));
  FileFit fits = fit_of(1, 0, 0, 1000);
  fits.to_link = 2;
  CHECK(is_served(fits));
}

TEST_CASE(
    "an object of a device link may be linked for what its images fit, or where one is not understood") {
  Device old, same;
  old.capability = ComputeCapability{6, 1};
  same.capability = ComputeCapability{9, 0};
  Fatbin object;
  object.entries.resize(2);
  object.entries[0].kind = EntryKind::sass;
  object.entries[0].arch = *parse_arch("75");
  object.entries[1].kind = EntryKind::ptx;
  object.entries[1].arch = *parse_arch("80");
  CHECK_FALSE(may_link_by_headers(object, same));  // no part of a device link
  object.relocatable = true;
  CHECK(may_link_by_headers(object, same));
  CHECK_FALSE(may_link_by_headers(object, old));
  object.entries[0].kind = EntryKind::other;
  CHECK(may_link_by_headers(object, old));
  object.entries[0].kind = EntryKind::sass;
  object.entries[1].unknown = "flag 0x4000000";
  CHECK(may_link_by_headers(object, old));
}

TEST_CASE("by headers the same image is taken, and a cubin by itself is never passed over") {
  const auto entry = [](EntryKind kind, const char* arch, const char* isa) {
    FatbinEntry made;
    made.kind = kind;
    made.arch = *parse_arch(arch);
    if (isa != nullptr) made.ptx_isa = parse_version(isa);
    return made;
  };
  Device device;
  device.capability = parse_capability("9.0");
  device.driver_cuda = parse_version("12.4");
  const auto fit = [&](std::vector<FatbinEntry> entries, bool bare = false,
                       const JitEnvironment& environment = {}) {
    Fatbin fatbin;
    fatbin.entries = std::move(entries);
    fatbin.bare = bare;
    return fit_by_headers(fatbin, device, environment);
  };
  const auto old = entry(EntryKind::ptx, "80", "8.0"), newer = entry(EntryKind::ptx, "80", "9.0");
  CHECK(fit({old, newer}) == HeaderFit::jit);
  CHECK(fit({newer, old}) == HeaderFit::too_new);
  const auto own = entry(EntryKind::ptx, "90", "8.0"), own_newer = entry(EntryKind::ptx, "90", "9.0");
  CHECK(fit({own, own_newer}) == HeaderFit::too_new);
  CHECK(fit({own_newer, own}) == HeaderFit::jit);
  CHECK(fit({entry(EntryKind::ptx, "90a", "8.0"), own_newer}) == HeaderFit::jit);

  JitEnvironment forced;
  forced.forces_jit = "CUDA_FORCE_PTX_JIT";
  const auto sass = entry(EntryKind::sass, "90", nullptr);
  CHECK(fit({sass}) == HeaderFit::sass);
  CHECK(fit({sass}, false, forced) == HeaderFit::none);
  CHECK(fit({sass}, true, forced) == HeaderFit::sass);
}
