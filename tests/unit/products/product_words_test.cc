#include "products/product_words.h"

#include <doctest/doctest.h>

#include "base/text.h"

using namespace archguard;

namespace {

std::string words(std::string_view name) {
  const auto found = product_words(name);
  return join(found.brands, " ") + ": " + join(found.words, " ");
}

}  // namespace

TEST_CASE("case, NVIDIA and what parts the words is the same") {
  for (const auto* name :
       {"NVIDIA GeForce RTX 3080", "nvidia-geforce-rtx-3080", "GEFORCE_RTX_3080", " GeForce  RTX\t3080 "}) {
    CHECK(words(name) == "geforce: rtx 3080");
  }
  CHECK(words("rtx3090") == ": rtx 3090");
  CHECK(words("gtx1080ti") == ": gtx 1080 ti");
  CHECK(words("NVIDIA GeForce RTX 3050Ti Laptop GPU") == "geforce: rtx 3050 ti");
  CHECK(words("rtxa6000") == ": rtx a6000");
  CHECK(words("Orin (nvgpu)") == ": orin");
}

TEST_CASE("what says nothing of the chip is left out") {
  CHECK(words("NVIDIA A100-SXM4-80GB") == ": a100");
  CHECK(words("NVIDIA GH200 144G HBM3e") == ": gh200");
  CHECK(words("NVIDIA RTX PRO 5000 72GB Blackwell") == ": rtx pro 5000 blackwell");
  CHECK(words("Quadro RTX 4000 with Max-Q Design") == "quadro: rtx 4000");
  CHECK(words("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb") == ": a100");
  CHECK(words("a100_3g.39gb") == ": a100");
  CHECK(words("NVIDIA A100 80GB PCIe MIG 1g.10gb+me") == ": a100");
  CHECK(words("NVIDIA A30 MIG 1c.2g.12gb") == ": a30");
  CHECK(words("1g.5gb") == ": ");
  CHECK(words("GeForce GPU") == "geforce: ");
}

TEST_CASE("a virtual GPU's profile is left out, what looks like one within a name is not") {
  CHECK(words("GRID T4-16Q") == "grid: t4");
  CHECK(words("GRID V100DX-2B4") == "grid: v100dx");
  CHECK(words("NVIDIA H200X-141C") == ": h200x");
  CHECK(words("GRID A100-7-40C MIG 7g.40gb") == "grid: a100");
  CHECK(words("GRID A100D-1-10CME") == "grid: a100d");
  CHECK(words("GRID M60-1A") == "grid: m60");
  CHECK(words("GeForce 710A") == "geforce: 710a");
  CHECK(words("GeForce GT 730A") == "geforce: gt 730a");
  CHECK(words("16q") == ": 16q");
}

TEST_CASE("words that only look like those are kept") {
  CHECK(words("GeForce RTX 4090 D") == "geforce: rtx 4090 d");
  CHECK(words("H20-3e") == ": h20 3e");
  CHECK(words("A100 4000GB") == ": a100 4000gb");
  CHECK(words("A100 1g.5xb") == ": a100 1g.5xb");
  CHECK(words("NVIDIA NVIDIA A100") == ": nvidia a100");
  CHECK(words("") == ": ");
  CHECK(words("--- ___") == ": ");
  CHECK(words("A100\xC2\xA0PCIe") == ": a100\xC2\xA0pcie");
}
