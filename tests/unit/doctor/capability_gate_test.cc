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

std::optional<RaisedText> gate(std::string_view source, std::string_view error) {
  return find_capability_gate(source, raised_messages(error));
}

}  // namespace

TEST_CASE("an error is found in the source that raises it behind a check of the GPU") {
  const auto found = gate(kWorker, kError);
  REQUIRE(found);
  CHECK(found->line == 13);
  CHECK(found->condition == "if not current_platform.has_device_capability(80):");
}

TEST_CASE("a text that differs, or is raised for another reason, is no gate") {
  CHECK_FALSE(gate(kWorker, "ValueError: Bfloat16 is only supported on CPUs"));
  CHECK_FALSE(gate(kWorker, "ValueError: The size of the cache is more than this GPU's memory holds"));
  CHECK_FALSE(gate(kWorker, ""));
  CHECK_FALSE(gate("", kError));
}

TEST_CASE("a check may go by a name, by an assertion or by another branch") {
  const auto by_name = gate(
      "def f():\n    major, _ = torch.cuda.get_device_capability()\n    if major < 8:\n        raise RuntimeError('%s needs an Ampere GPU or newer' % name)\n",
      "RuntimeError: flash needs an Ampere GPU or newer");
  REQUIRE(by_name);
  CHECK(by_name->condition == "if major < 8:");

  const auto asserted = gate("assert tl.cuda_capability_geq(10, 0), \"fp4_padded requires blackwell or newer\"\n",
                                             "AssertionError: fp4_padded requires blackwell or newer");
  REQUIRE(asserted);
  CHECK(asserted->line == 1);

  const auto branch = gate(
      "if is_sm90():\n    run()\nelse:\n    raise NotImplementedError(\"{} is written for Hopper alone\".format(name))\n",
      "NotImplementedError: grouped_gemm is written for Hopper alone");
  REQUIRE(branch);
  CHECK(branch->condition == "if is_sm90():");

  const auto lines = gate(
      "if (\n    props.major < 8 and compute_capability(props) < 80\n):\n    raise RuntimeError('the kernel needs newer GPUs than this')\n",
      "RuntimeError: the kernel needs newer GPUs than this");
  REQUIRE(lines);
  CHECK(lines->condition == "if ( props.major < 8 and compute_capability(props) < 80 ):");
}

TEST_CASE("a condition that the GPU passed, or a name that others share, is no gate") {
  constexpr const char* kNone[] = {
      // A name that only stands beside what asks for the capability.
      "def f(self):\n    self.cap = torch.cuda.get_device_capability()\n    if self.hidden % 8 != 0:\n"
      "        raise E(\"the text that an error has in it\")\n",
      "def f(self, x=None, capability=None):\n    if self.hidden % 8 != 0:\n        raise E(\"the text that an error has in it\")\n",
      "def f(dtype):\n    if dtype == 'fp8' and has_capability(89): fast()\n    if dtype not in KNOWN:\n"
      "        raise E(\"the text that an error has in it\")\n",
      "def g():\n    major, minor = get_device_capability()\ndef f(major):\n    if major != 2:\n"
      "        raise E(\"the text that an error has in it\")\n",
      // Branches that it took.
      "if is_hopper():\n    try:\n        import deep_gemm\n    except ImportError:\n"
      "        raise E(\"the text that an error has in it\")\n",
      "if has_device_capability(90):\n    if head > 256:\n        raise E(\"the text that an error has in it\")\n",
      // A branch of another block, beside an earlier condition.
      "if torch.cuda.get_device_capability() >= (8, 0):\n    fast()\n\ndef load(\n    path,\n):\n"
      "    raise E(\"the text that an error has in it\")\n",
      "if cc_major < 8:\n    a()\ntry:\n    lock()\nexcept BlockingIOError:\n    pass\nelse:\n"
      "    raise E(\"the text that an error has in it\")\n",
      // Another question.
      "def f(cap):\n    model = load(path, capability=cap)\n    if model is None:\n        raise E(\"the text that an error has in it\")\n",
      "def f():\n    props = get_device_properties(0)\n    if props.total_memory < n:\n        raise E(\"the text that an error has in it\")\n",
      "if not sm4_available:\n    raise E(\"the text that an error has in it\")\n",
      // What stands in comments and texts.
      "if n > 4:  # capability\n    raise E(\"the text that an error has in it, the capability\")\n",
      "assert len(n) < 5, \"the text that an error has in it, the capability\"\n",
      "assert capability == \"the text that an error has in it\"\n",
  };
  for (const char* const source : kNone) {
    CAPTURE(std::string(source));
    CHECK_FALSE(gate(source, "E: the text that an error has in it, the capability"));
  }
}

TEST_CASE("literals of every kind are compared") {
  const auto finds = [](const std::string& call, const std::string& error) {
    return gate("if cc_major < 8:  # too old\n    raise " + call + "\n", error).has_value();
  };
  const std::string text = "the \"flash\" backend needs an Ampere GPU or newer than this";
  CHECK(finds(R"py(RuntimeError("the \"flash\" backend needs an Ampere GPU or newer\nthan this"))py", "RuntimeError: " + text));
  CHECK(finds(R"py(E(r'the "flash" backend needs an Ampere GPU' ' or newer than this'))py", text));
  CHECK(finds(R"py(E(f'the {name!r} backend needs an {arch["x"]} GPU or newer than this'))py", text));
  CHECK(finds(R"py(E('the %(name)s backend needs an %5.1s GPU or newer than this' % x))py", text));
  CHECK(finds("E(\"\"\"the \"flash\" backend needs\n        an Ampere GPU or newer than this\"\"\")", text));
  CHECK_FALSE(finds("E('the backend needs another GPU than this')", text));
  CHECK(gate("if cc < 80 and is_sm80: raise E('the backend needs an Ampere GPU')\n", "E: the backend needs an Ampere GPU"));
  CHECK(gate("assert (\n    capability >= 80\n), 'the backend needs an Ampere GPU'\n",
             "AssertionError: the backend needs an Ampere GPU"));
  const auto chain =
      gate("if sm_version == 90:\n    a()\nelif n:\n    b()\nelse:\n    raise E('the backend needs an Ampere GPU')\n",
           "E: the backend needs an Ampere GPU");
  REQUIRE(chain);
  CHECK(chain->condition == "if sm_version == 90:");
}

TEST_CASE("messages are those of exceptions, without the frames between them") {
  const auto told = raised_messages(
      "WARNING: it is not supported on this GPU\nValueError: one\n two\n\nTraceback (most recent call last):\n  File \"x\"\n"
      "torch.OutOfMemoryError: CUDA out of memory");
  REQUIRE(told.size() == 2);
  CHECK(told[0] == "Error: one two");
  CHECK(told[1] == "Error: CUDA out of memory");
  CHECK(raised_messages("needs  a newer\nGPU") == std::vector<std::string>{"needs a newer GPU"});
  CHECK(raised_messages(std::string(1 << 20, 'x') + "Error: y").back() == "Error: y");
}

TEST_CASE("source that is cut or no Python ends") {
  for (const char* const source : {"raise ", "raise E(\"", "raise E(\'\'\'", "raise E(f'{", "assert \\", "raise E('a\nraise E('b",
                                   "raise E('%(", "if x: raise "})
    CHECK_FALSE(gate(source, kError));
  std::string many, line;
  for (int i = 0; i < 20'000; ++i) many += "raise (\"Bfloat16 is only supported on GPUs with compute capability\")\n";
  for (int i = 0; i < 100'000; ++i) line += "raise ";
  CHECK_FALSE(gate(many, kError));
  CHECK_FALSE(gate(line, kError));
}
