#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace archguard {

// What a product's name says of its chip: "NVIDIA GeForce RTX 3080 Ti Laptop GPU" → {geforce}, {rtx, 3080,
// ti}.
struct ProductWords {
  std::vector<std::string> brands;  // GeForce, Quadro, Tesla, GRID, in lower case
  std::vector<std::string> words;   // the others, but for those that say nothing of the chip
};

ProductWords product_words(std::string_view name);

// Has it the profile of a MIG instance: "1g.5gb", "a100_1g.10gb+me"?
bool names_mig_profile(std::string_view name);

}  // namespace archguard
