#include <doctest/doctest.h>

#include "doctor/library_names.h"

using namespace archguard;
using namespace archguard::doctor;

TEST_CASE("names of CUDA's libraries tell a family, a major version and a version") {
  const auto versioned = library_name("libcublas.so.12.8.4.1");
  REQUIRE(versioned);
  CHECK(versioned->family == "cublas");
  CHECK(versioned->major == 12);
  CHECK(versioned->version == "12.8.4.1");
  const auto interface = library_name("libnvrtc.so.13");
  REQUIRE(interface);
  CHECK(interface->major == 13);
  CHECK(interface->version.empty());
  CHECK(library_name("libcudart-8774224f.so.12.4.127")->family == "cudart");
  CHECK(library_name("libnvrtc-builtins.so.12.8")->version == "12.8");
  CHECK(library_name("libnvrtc-builtins-2dc4bf68.so.11.8")->family == "nvrtc-builtins");
  CHECK(library_name("libnvrtc-3a20f2b6.so.11.0")->version == "11.0");
  CHECK_FALSE(library_name("libcublas-beside.so.12"));
  CHECK_FALSE(library_name("libnvrtc-alternat.so.12"));
  CHECK(library_name("libnvrtc.so.11.2")->version.empty());  // of 11.2 to 11.8
  CHECK(library_name("libnvrtc.so.11.2")->major == 11);
  CHECK(library_name("libnvrtc.so.11.2.152")->version == "11.2.152");
  CHECK(library_name("libcudnn.so")->major == std::nullopt);
  CHECK_FALSE(library_name("libcublasmp.so.0"));
  CHECK_FALSE(library_name("cudart.so.12"));
  CHECK_FALSE(library_name("libcudart.a"));
}

TEST_CASE("a version begins with two numbers") {
  CHECK(leading_version("12.8.93") == Version{12, 8});
  CHECK(leading_version("12.8") == Version{12, 8});
  CHECK_FALSE(leading_version("12"));
  CHECK_FALSE(leading_version("a.b"));
}

TEST_CASE("versions are compared number by number, as far as both tell") {
  CHECK(is_older("9.1.0", "9.10.2"));
  CHECK_FALSE(is_older("9.10.2", "9.1.0"));
  CHECK_FALSE(is_older("9.1", "9.1.0"));
  CHECK_FALSE(is_older("12.x", "12.8"));
}
