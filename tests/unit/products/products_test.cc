#include "products/products.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <set>

#include "base/text.h"
#include "products/product_words.h"

using namespace archguard;

namespace {

// "8.0"; "7.5 or 8.9" of a name that several chips go by; "unknown".
std::string capability_of_name(std::string_view name) {
  const auto match = find_product(name);
  CHECK((match.product == nullptr || match.candidates.empty()));
  if (match.product != nullptr) return to_string(match.product->capability);
  std::set<ComputeCapability> found;
  for (const auto* candidate : match.candidates) found.insert(candidate->capability);
  CHECK(found.size() == match.candidates.size());
  std::vector<std::string> texts;
  for (const auto capability : found) texts.push_back(to_string(capability));
  return texts.empty() ? "unknown" : join(texts, " or ");
}

std::string meant_by(std::string_view name) {
  const auto match = find_product(name);
  CHECK(match.product == nullptr);
  CHECK(match.candidates.empty());
  return match.meant.value_or("nothing");
}

std::string with(std::string text, char separator) {
  std::replace(text.begin(), text.end(), ' ', separator);
  return text;
}

std::string upper(std::string text) {
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return text;
}

// All capabilities of a name in the table, which is compared as it stands.
std::map<std::string, std::set<ComputeCapability>> capabilities_by_name() {
  std::map<std::string, std::set<ComputeCapability>> all;
  for (const auto& product : products()) {
    const auto words = product_words(product.name);
    all[join(words.brands, " ") + ":" + join(words.words, " ")].insert(product.capability);
  }
  return all;
}

}  // namespace

TEST_CASE("the table ascends by capability, and has no row twice") {
  const auto& all = products();
  CHECK(all.size() > 400);
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const Product& a, const Product& b) { return a.capability < b.capability; }));
  std::set<std::pair<std::string, ComputeCapability>> seen;
  for (const auto& product : all) {
    CAPTURE(product.name);
    CHECK(seen.insert({product.name, product.capability}).second);
    CHECK(!starts_with(product.name, "NVIDIA"));
    CHECK(!product_words(product.name).words.empty());
  }
  CHECK(std::string(products_date()) == "2026-03-05");
}

// A name that shall tell nothing is added here by hand; one that does so by mistake fails.
TEST_CASE("only these names stand for several chips") {
  std::vector<std::string> several;
  for (const auto& [name, capabilities] : capabilities_by_name()) {
    if (capabilities.size() > 1) several.push_back(name);
  }
  CHECK(several == std::vector<std::string>{":titan x", "geforce:710a", "geforce:710m", "geforce:810m",
                                            "geforce:820m", "geforce:910m", "geforce:gt 630",
                                            "geforce:gt 640", "geforce:gt 640m le", "geforce:gt 720m",
                                            "geforce:gt 730", "geforce:gt 730m", "geforce:gt 740m",
                                            "geforce:gtx 750", "geforce:gtx 860m", "quadro:m3000m",
                                            "quadro:m4000m", "quadro:m5000m", "quadro:m620"});
  CHECK(capability_of_name("NVIDIA GeForce GT 730") == "2.1 or 3.0 or 3.5");
  CHECK(capability_of_name("GeForce GTX 860M") == "3.0 or 5.0");
  CHECK(capability_of_name("NVIDIA-GeForce-GTX-750") == "5.0 or 5.2");
}

TEST_CASE("every name of the table is found in every spelling") {
  const auto by_name = capabilities_by_name();
  for (const auto& product : products()) {
    const std::string name = product.name;
    const auto words = product_words(name);
    const bool one = by_name.at(join(words.brands, " ") + ":" + join(words.words, " ")).size() == 1;
    std::string doubled;
    for (const char letter : name) doubled += letter == ' ' ? "  " : std::string(1, letter);
    for (const auto& spelling :
         {name, "NVIDIA " + name, to_lower(name), upper(name), "nvidia_" + with(to_lower(name), '_'),
          "NVIDIA-" + with(name, '-'), doubled, " " + name + "\n", name + " MIG 1g.10gb",
          with(name, '-') + "-MIG-3g.20gb", "NVIDIA " + name + " 80GB PCIe", name + " Laptop GPU"}) {
      CAPTURE(spelling);
      const auto match = find_product(spelling);
      CHECK(!match.meant);
      if (one) {
        // Without a brand, "RTX 6000" would be several; here each name has its own.
        REQUIRE(match.product != nullptr);
        CHECK(match.product->capability == product.capability);
        CHECK(product_words(match.product->name).words == words.words);
      } else {
        CHECK(match.product == nullptr);
        CHECK(std::count(match.candidates.begin(), match.candidates.end(), &product) == 1);
      }
    }
  }
}

TEST_CASE("without its brand a name tells the same, or tells nothing") {
  for (const auto& product : products()) {
    CAPTURE(product.name);
    const auto match = find_product(join(product_words(product.name).words, " "));
    if (match.product != nullptr) CHECK(match.product->capability == product.capability);
  }
  CHECK(capability_of_name("RTX 3090") == "8.6");
  CHECK(capability_of_name("P4000") == "6.1");
  CHECK(capability_of_name("410") == "unknown");
}

TEST_CASE("no beginning and no end of a name is taken for the name") {
  std::set<std::vector<std::string>> known;
  for (const auto& product : products()) known.insert(product_words(product.name).words);
  for (const auto& product : products()) {
    const std::string name = product.name;
    for (const auto& other :
         {name + "0", name + "Y", name + " Y", "X" + name, name.substr(0, name.size() - 1)}) {
      CAPTURE(other);
      if (known.count(product_words(other).words) == 0) CHECK(capability_of_name(other) == "unknown");
    }
  }
}

TEST_CASE("names that tools print") {
  const std::pair<const char*, const char*> cases[] = {
      // nvidia-smi
      {"NVIDIA A100-SXM4-40GB", "8.0"},
      {"NVIDIA A100-SXM4-80GB", "8.0"},
      {"NVIDIA A100 80GB PCIe", "8.0"},
      {"A100-PCIE-40GB", "8.0"},
      {"NVIDIA A100X", "8.0"},
      {"NVIDIA A800 40GB Active", "8.0"},
      {"NVIDIA A30", "8.0"},
      {"NVIDIA H100 80GB HBM3", "9.0"},
      {"NVIDIA H100 NVL", "9.0"},
      {"NVIDIA H100 PCIe", "9.0"},
      {"NVIDIA H200", "9.0"},
      {"NVIDIA H20-3e", "9.0"},
      {"NVIDIA H20 NVL16", "9.0"},
      {"NVIDIA GH200 480GB", "9.0"},
      {"NVIDIA GH200 144G HBM3e", "9.0"},
      {"NVIDIA B200", "10.0"},
      {"NVIDIA GB200", "10.0"},
      {"NVIDIA B300 SXM6 AC", "10.3"},
      {"B300", "10.3"},
      {"NVIDIA GB300", "10.3"},
      {"NVIDIA GB10", "12.1"},
      {"NVIDIA Thor", "11.0"},
      {"Orin (nvgpu)", "8.7"},
      {"NVIDIA Tegra X1", "5.3"},
      {"NVIDIA L4", "8.9"},
      {"L40S", "8.9"},
      {"NVIDIA A10G", "8.6"},
      {"NVIDIA A16", "8.6"},
      {"NVIDIA A2", "8.6"},
      {"NVIDIA A40", "8.6"},
      {"NVIDIA RTX A6000", "8.6"},
      {"NVIDIA RTX 6000 Ada Generation", "8.9"},
      {"NVIDIA RTX 4000 SFF Ada Generation", "8.9"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "12.0"},
      {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "12.0"},
      {"NVIDIA RTX PRO 5000 72GB Blackwell", "12.0"},
      {"NVIDIA RTX 6000D", "12.0"},
      {"Quadro RTX 8000", "7.5"},
      {"NVIDIA Quadro RTX 6000", "7.5"},
      {"Quadro RTX 5000 with Max-Q Design", "7.5"},
      {"NVIDIA T1000 8GB", "7.5"},
      {"Tesla T4", "7.5"},
      {"NVIDIA T4G", "7.5"},
      {"Tesla V100-SXM2-32GB", "7.0"},
      {"Tesla V100-SXM2-32GB-LS", "7.0"},
      {"Tesla V100S-PCIE-32GB", "7.0"},
      {"Tesla V100-FHHL-16GB", "7.0"},
      {"Tesla V100-DGXS-32GB", "7.0"},
      {"Tesla P100-PCIE-16GB", "6.0"},
      {"Tesla P40", "6.1"},
      {"Tesla M40 24GB", "5.2"},
      {"Tesla K80", "3.7"},
      {"Tesla K40m", "3.5"},
      {"GRID K520", "3.0"},
      {"NVIDIA GeForce RTX 5090 Laptop GPU", "12.0"},
      {"NVIDIA GeForce RTX 5090 D v2", "12.0"},
      {"NVIDIA GeForce RTX 4090 D", "8.9"},
      {"NVIDIA GeForce RTX 3050", "8.6"},
      {"NVIDIA GeForce RTX 3050 6GB Laptop GPU", "8.6"},
      {"NVIDIA GeForce RTX 3050 A Laptop GPU", "8.9"},
      {"NVIDIA GeForce RTX 2050", "8.6"},
      {"NVIDIA GeForce MX570 A", "8.6"},
      {"NVIDIA GeForce MX550", "7.5"},
      {"GeForce GTX 1650 with Max-Q Design", "7.5"},
      {"GeForce GTX 1080 Ti", "6.1"},
      {"NVIDIA GeForce GTX 1060 6GB", "6.1"},
      {"NVIDIA TITAN X (Pascal)", "6.1"},
      {"GeForce GTX TITAN X", "5.2"},
      {"TITAN RTX", "7.5"},
      {"NVIDIA TITAN V", "7.0"},
      {"GeForce GTX 960M", "5.0"},
      {"GeForce 940MX", "5.0"},
      // MIG and virtual GPUs
      {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", "8.0"},
      {"GRID A100-7-40C MIG 7g.40gb", "8.0"},
      {"GRID A100D-80C", "8.0"},
      {"GRID T4-16Q", "7.5"},
      {"NVIDIA A40-48Q", "8.6"},
      {"GRID V100D-32Q", "7.0"},
      {"GRID RTX6000-4Q", "7.5"},
      {"GRID RTX8000P-6Q", "7.5"},
      {"NVIDIA RTX6000-Ada-48Q", "8.9"},
      {"NVIDIA RTXA6000-48Q", "8.6"},
      {"NVIDIA H100XM-80C", "9.0"},
      {"NVIDIA H200X-141C", "9.0"},
      {"GRID M10-8Q", "5.0"},
      {"GRID P40-2Q", "6.1"},
      // Kubernetes, cloud providers, Slurm, HTCondor
      {"NVIDIA-H100-80GB-HBM3", "9.0"},
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "8.0"},
      {"Tesla-T4-SHARED", "7.5"},
      {"NVIDIA-GeForce-RTX-2080-Ti", "7.5"},
      {"nvidia-tesla-a100", "8.0"},
      {"nvidia-tesla-v100", "7.0"},
      {"nvidia-l4", "8.9"},
      {"nvidia-h100-80gb", "9.0"},
      {"a10g", "8.6"},
      {"nvidia_h100_80gb_hbm3", "9.0"},
      {"a100-sxm4-80gb", "8.0"},
      {"a100_3g.39gb", "8.0"},
      {"rtx2080ti", "7.5"},
      {"rtx8000", "7.5"},
      {"rtxa6000", "8.6"},
      {"v100", "7.0"},
      {"Jetson AGX Orin", "8.7"},
      {"Xavier", "7.2"},
      // Names that tell nothing
      {"RTX 6000", "7.5 or 8.9"},
      {"rtx5000", "7.5 or 8.9"},
      {"NVIDIA RTX 4000", "7.5 or 8.9"},
      {"RTX 3000", "7.5 or 8.9"},
      {"TITAN X", "5.2 or 6.1"},
      {"Quadro M620", "5.0 or 5.2"},
      {"GeForce RTX 40900", "unknown"},
      {"RTX 40900", "unknown"},
      {"H1000", "unknown"},
      {"1g.5gb", "unknown"},
      {"3090", "unknown"},
      {"a6000", "unknown"},
      {"gpu", "unknown"},
      {"", "unknown"},
      {"NVIDIA", "unknown"},
      {"Graphics Device", "unknown"},
      {"NVIDIA GeForce GPU", "unknown"},
      {"AMD Instinct MI300X", "unknown"},
      {"Tesla RTX 3090", "unknown"},
      {"GeForce A100", "unknown"},
      {"Quadro RTX A6000", "unknown"},
      {"A100 H100", "unknown"},
      {"RTX PRO 6000", "unknown"},
      {"RTX 2000", "unknown"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.first);
    CHECK(capability_of_name(one.first) == one.second);
  }
}

TEST_CASE("the kind of a product") {
  const auto kind = [](const char* name) { return find_product(name).product->kind; };
  CHECK(kind("NVIDIA A100-SXM4-80GB") == ProductKind::data_centre);
  CHECK(kind("Tesla T4") == ProductKind::data_centre);
  CHECK(kind("NVIDIA RTX PRO 6000 Blackwell Server Edition") == ProductKind::data_centre);
  CHECK(kind("NVIDIA RTX PRO 6000 Blackwell Workstation Edition") == ProductKind::workstation);
  CHECK(kind("Quadro P4000") == ProductKind::workstation);
  CHECK(kind("NVIDIA T1000") == ProductKind::workstation);
  CHECK(kind("NVS 510") == ProductKind::workstation);
  CHECK(kind("GeForce MX150") == ProductKind::geforce);
  CHECK(kind("TITAN RTX") == ProductKind::geforce);
  CHECK(kind("Orin (nvgpu)") == ProductKind::jetson);
  for (const auto& product : products()) {
    const auto words = product_words(product.name);
    const auto has = [&](const char* brand) {
      return std::count(words.brands.begin(), words.brands.end(), brand) > 0;
    };
    CAPTURE(product.name);
    if (has("geforce")) CHECK(product.kind == ProductKind::geforce);
    if (has("quadro")) CHECK(product.kind == ProductKind::workstation);
    if (has("tesla")) CHECK(product.kind == ProductKind::data_centre);
    const auto capability = product.capability;
    const bool tegra = capability == ComputeCapability{3, 2} || capability == ComputeCapability{5, 3} ||
                       capability == ComputeCapability{6, 2} || capability == ComputeCapability{7, 2} ||
                       capability == ComputeCapability{8, 7} || capability == ComputeCapability{11, 0};
    CHECK((product.kind == ProductKind::jetson) == tegra);
  }
}

TEST_CASE("of an unknown name, one near to it is told and not taken") {
  CHECK(meant_by("RTX 40900") == "GeForce RTX 4090");
  CHECK(meant_by("GeForce RTX 40900") == "GeForce RTX 4090");
  CHECK(meant_by("Quadro RTX 40900") == "Quadro RTX 4000");
  CHECK(meant_by("GeForce RXT 4090") == "GeForce RTX 4090");
  CHECK(meant_by("H1000") == "H100");
  CHECK(meant_by("3090") == "GeForce RTX 3090");
  CHECK(meant_by("a6000") == "RTX A6000");
  CHECK(meant_by("Quadro RTX A6000") == "RTX A6000");
  CHECK(meant_by("RTX 2000") == "RTX 2000 Ada");
  CHECK(meant_by("1g.5gb") == "nothing");
  CHECK(meant_by("RTX") == "nothing");
  CHECK(meant_by("AMD Instinct MI300X") == "nothing");
  CHECK(meant_by(std::string(100'000, 'A')) == "nothing");
}
