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
