#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/arch.h"

namespace archguard {

enum class ProductKind { data_centre, workstation, geforce, jetson };

// One of NVIDIA's products, as compat/products.inc has it.
struct Product {
  const char* name;  // as NVIDIA prints it, without "NVIDIA": "GeForce RTX 3090", "A100"
  ComputeCapability capability;
  ProductKind kind;
};

// All of the table, ascending by capability.
const std::vector<Product>& products();

// The day of NVIDIA's list of products: "2026-03-05". What is newer may be missing, and is unknown.
const char* products_date();

// What somebody else's name of a GPU tells. At most one of `product` and `candidates` is set.
struct ProductMatch {
  const Product* product = nullptr;  // the one that it names
  std::vector<const Product*> candidates =
      {};  // several chips go by this name, one of each capability: none is taken
  std::optional<std::string> meant = {};  // of an unknown name: one near to it, for the fix alone
};

// The product that a name means: "NVIDIA-H100-80GB-HBM3", "nvidia_h100_80gb_hbm3", "Tesla T4",
// "A100-SXM4-40GB MIG 1g.5gb", "GRID T4-16Q", "rtx3090", "Orin (nvgpu)". Whole words are compared: case,
// "NVIDIA", and whether blanks, hyphens or underscores part them, is the same; memory size, form factor, MIG
// and vGPU profiles, and "Laptop GPU" tell nothing of the chip. GeForce, Quadro, Tesla and GRID may be
// missing, not wrong. Never a guess by the beginning of a name. Looking for what is near takes some 100 µs:
// ask once for each name.
ProductMatch find_product(std::string_view name);

// Looks for each name once, and keeps what it found.
class ProductLookup {
 public:
  const ProductMatch& find(const std::string& name);

 private:
  std::map<std::string, ProductMatch> found_;
};

}  // namespace archguard
