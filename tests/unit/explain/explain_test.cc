#include "explain/explain.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "compat/error_codes.h"
#include "explain/table.h"

using namespace archguard;

namespace {

std::vector<std::string> ids_of(std::string_view text) {
  std::vector<std::string> ids;
  for (const Explanation& each : explain(text)) ids.push_back(each.id);
  return ids;
}

std::vector<const KnownError*> all_errors() {
  std::vector<const KnownError*> all;
  for (const auto* table : {&tool_errors(), &framework_errors(), &cuda_errors()})
    for (const KnownError& each : *table) all.push_back(&each);
  return all;
}

}  // namespace

TEST_CASE("of several texts the root cause stands first") {
  CHECK(ids_of("RuntimeError: Triton Error [CUDA]: device kernel image is invalid\n"
               "ptxas fatal : Value 'sm_121a' is not defined for option 'gpu-name'") ==
        std::vector<std::string>{"ptxas-unknown-arch", "invalid-kernel-image"});
  CHECK(ids_of("failed with 'CUDA_ERROR_INVALID_HANDLE' after 'CUDA_ERROR_INVALID_PTX'") ==
        std::vector<std::string>{"invalid-ptx", "invalid-handle"});
  CHECK(ids_of("CUDA error: no kernel image is available for execution on the device\n"
               "Found GPU0 X which is of cuda capability 6.1. Minimum and Maximum cuda capability supported "
               "by this version "
               "of PyTorch is (7.0) - (12.0)") ==
        std::vector<std::string>{"torch-not-for-gpu", "no-kernel-image"});
}

TEST_CASE("a number brings its names, and what the text tells fills the commands") {
  const auto found = explain("CUDA error 209: NVIDIA GeForce GTX 1080, compute capability 6.1");
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == 209);
  CHECK(found[0].names ==
        std::vector<std::string>{"cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU"});
  CHECK(found[0].check.find("--device 6.1") != std::string::npos);
  CHECK(explain("209").front().check.find("--device CC") != std::string::npos);
  CHECK(explain("806").front().code == 806);
  // Before CUDA 10.1.
  CHECK(explain("48").front().code == 209);
  CHECK(explain("CUDA error 47").front().id == "invalid-kernel-image");
  for (const char* text :
       {"FP8 quantization requires compute capability 8.9 or higher. CUDA error: no kernel image is "
        "available for execution on the device",
        "on my 3090 (compute capability 8.6) it works. On my 1080 (compute capability 6.1): no kernel "
        "image is available"}) {
    const auto undecided = explain(text);
    REQUIRE(undecided.size() == 1);
    CHECK(undecided[0].check.find("--device CC") != std::string::npos);
    CHECK(undecided[0].here.empty());
  }
}

TEST_CASE("every entry says all that an answer needs, and is about a finding of the doctor") {
  const std::set<std::string> findings = {"driver",       "libcuda",    "library-mix", "device-code",
                                          "jit-compiler", "stale-code", "environment", "not-architecture"};
  std::set<std::string> ids;
  for (const KnownError* each : all_errors()) {
    CAPTURE(each->id);
    CHECK(ids.insert(each->id).second);
    CHECK_FALSE((each->codes.empty() && each->patterns.empty()));
    CHECK_FALSE(each->causes.empty());
    for (const std::string text : {each->meaning, each->check, each->fix, each->sure}) {
      CHECK_FALSE(text.empty());
      CHECK(text.back() != '.');
    }
    REQUIRE_FALSE(each->findings.empty());
    for (const char* finding : each->findings) CHECK(findings.count(finding) == 1);
    for (const int code : each->codes)
      CHECK(std::any_of(known_errors().begin(), known_errors().end(),
                        [code](const ErrorNames& names) { return names.code == code; }));
  }
}

TEST_CASE("every pattern finds its own text") {
  for (const KnownError* each : all_errors())
    for (std::string text : each->patterns) {
      CAPTURE(text);
      std::replace(text.begin(), text.end(), '*', '9');
      const auto ids = ids_of("log: " + text + " (end)");
      CHECK(std::find(ids.begin(), ids.end(), each->id) != ids.end());
    }
}

TEST_CASE("text and JSON say the same, and nothing of the pasted text is printed raw") {
  const auto found = explain("libnvrtc.so.12\xff\x01: cannot open shared object file");
  REQUIRE_FALSE(found.empty());
  CHECK(explanations_text(found).find('\x01') == std::string::npos);
  CHECK(explanations_json(found).find("\"id\": \"cuda-library-missing\"") != std::string::npos);
  CHECK(explanations_text({}).empty());
  CHECK(explanations_json({}).find("\"known\": false") != std::string::npos);
}

TEST_CASE("a large or hostile text costs time that grows with its size alone") {
  std::string text;
  while (text.size() < kMostExplainedBytes)
    text += "ptxas 209 sm_ libcuda.so undefined symbol: Value 'sm_ 35 capability 8.0 (";
  CHECK_FALSE(explain(text + "x").size() > all_errors().size());
}
