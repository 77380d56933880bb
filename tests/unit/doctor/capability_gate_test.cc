#include <doctest/doctest.h>

#include <string>

#include "doctor/capability_gate.h"

using namespace archguard::doctor;

namespace {

// As packages write it: pieces on several lines, with what is filled in, in a branch of a branch.
constexpr const char* kWorker = R"py(import torch

def _check(dtype):
    if dtype == torch.bfloat16:  # noqa
        if not current_platform.has_device_capability(80):
            capability = current_platform.get_device_capability()

            if capability is None:
                compute_str = "does not have a compute capability"
            else:
                compute_str = f"has compute capability {capability}"

            raise ValueError(
                "Bfloat16 is only supported on GPUs with compute capability "
                f"of at least 8.0. Your {gpu_name} GPU {compute_str}. "
                "You can use float16 instead by explicitly setting the"
                '`dtype` flag in CLI, for example: --dtype=half.')

def _other(size):
    if size > 4:
        raise ValueError("The size of the cache is more than this GPU's memory holds")
)py";

constexpr const char* kError =
    "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has\n"
    "compute capability 7.5. You can use float16 instead by explicitly setting the`dtype` flag in CLI, for example: --dtype=half.";

}  // namespace

TEST_CASE("an error is found in the source that raises it behind a check of the GPU") {
  const auto found = find_capability_gate(kWorker, kError);
  REQUIRE(found);
  CHECK(found->line == 13);
  CHECK(found->condition == "if not current_platform.has_device_capability(80):");
}

TEST_CASE("a text that differs, or is raised for another reason, is no gate") {
  CHECK_FALSE(find_capability_gate(kWorker, "ValueError: Bfloat16 is only supported on CPUs"));
  CHECK_FALSE(find_capability_gate(kWorker, "ValueError: The size of the cache is more than this GPU's memory holds"));
  CHECK_FALSE(find_capability_gate(kWorker, ""));
  CHECK_FALSE(find_capability_gate("", kError));
}

TEST_CASE("a check may go by a name, by an assertion or by another branch") {
  const auto by_name = find_capability_gate(
      "def f():\n    major, _ = torch.cuda.get_device_capability()\n    if major < 8:\n        raise RuntimeError('%s needs an Ampere GPU or newer' % name)\n",
      "RuntimeError: flash needs an Ampere GPU or newer");
  REQUIRE(by_name);
  CHECK(by_name->condition == "if major < 8:");

  const auto asserted = find_capability_gate("assert tl.cuda_capability_geq(10, 0), \"fp4_padded requires blackwell or newer\"\n",
                                             "AssertionError: fp4_padded requires blackwell or newer");
  REQUIRE(asserted);
  CHECK(asserted->line == 1);

  const auto branch = find_capability_gate(
      "if is_sm90():\n    run()\nelse:\n    raise NotImplementedError(\"{} is written for Hopper alone\".format(name))\n",
      "NotImplementedError: grouped_gemm is written for Hopper alone");
  REQUIRE(branch);
  CHECK(branch->condition == "if is_sm90():");

  const auto lines = find_capability_gate(
      "if (\n    props.major < 8 and compute_capability(props) < 80\n):\n    raise RuntimeError('the kernel needs newer GPUs than this')\n",
      "RuntimeError: the kernel needs newer GPUs than this");
  REQUIRE(lines);
  CHECK(lines->condition == "if ( props.major < 8 and compute_capability(props) < 80 ):");
}

TEST_CASE("source that is cut or no Python ends") {
  for (const char* const source : {"raise ", "raise E(\"", "raise E('''", "raise E(f'{", "assert \\", "raise E('a\nraise E('b"})
    CHECK_FALSE(find_capability_gate(source, kError));
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "raise (\"Bfloat16 is only supported on GPUs\"\n";
  CHECK_FALSE(find_capability_gate(many, kError));
}
