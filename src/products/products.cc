#include "products/products.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "products/product_words.h"

namespace archguard {
namespace {

#include "compat/products.inc"

// A longer name is nobody's.
constexpr std::size_t kLongestProductName = 200;

struct NamedProduct {
  const Product* product;
  ProductWords words;
};
using ProductsByWords = std::map<std::string, std::vector<NamedProduct>>;

const ProductsByWords& products_by_words() {
  static const ProductsByWords index = [] {
    ProductsByWords all;
    for (const auto& product : products()) {
      auto words = product_words(product.name);
      auto key = join(words.words, " ");
      all[std::move(key)].push_back({&product, std::move(words)});
    }
    return all;
  }();
  return index;
}

// Is each brand of the name one that the product goes by? NVIDIA's cards for data centres were called Tesla
// until 2021, and GRID as virtual GPUs.
bool brands_fit(const std::vector<std::string>& brands, const NamedProduct& named) {
  return std::all_of(brands.begin(), brands.end(), [&](const std::string& brand) {
    const auto& own = named.words.brands;
    return std::find(own.begin(), own.end(), brand) != own.end() ||
           (named.product->kind == ProductKind::data_centre && (brand == "tesla" || brand == "grid"));
  });
}

std::vector<const NamedProduct*> products_called(const std::string& words,
                                                 const std::vector<std::string>& brands) {
  std::vector<const NamedProduct*> found;
  const auto called = products_by_words().find(words);
  if (called == products_by_words().end()) return found;
  for (const auto& named : called->second) {
    if (brands_fit(brands, named)) found.push_back(&named);
  }
  return found;
}

std::vector<const NamedProduct*> products_named(const ProductWords& asked) {
  const auto words = join(asked.words, " ");
  // Of "Quadro 410" the number alone tells nothing.
  const bool number = std::all_of(words.begin(), words.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && asked.brands.empty()) return {};
  auto found = products_called(words, asked.brands);
  // Some leave out of "RTX 6000 Ada" what tells it from Quadro RTX 6000.
  if (!found.empty() && asked.brands.empty()) {
    for (const auto* longer : products_called(words + " ada", {})) found.push_back(longer);
  }
  return found;
}

// Do `words` have all that was asked, in that order?
bool has_words(const std::vector<std::string>& words, const std::vector<std::string>& asked) {
  auto at = words.begin();
  for (const auto& word : asked) {
    at = std::find(at, words.end(), word);
    if (at == words.end()) return false;
    ++at;
  }
  return true;
}

// One with all the words that were asked, and more: "RTX A6000" for "A6000". The shortest.
const NamedProduct* longer_product(const std::vector<std::string>& asked) {
  const auto tells = [](const std::string& word) {
    return word.size() > 2 && word.find_first_of("0123456789") != std::string::npos;
  };
  if (std::none_of(asked.begin(), asked.end(), tells)) return nullptr;
  const NamedProduct* nearest = nullptr;
  for (const auto& [key, all] : products_by_words()) {
    const auto& words = all.front().words.words;
    if (!has_words(words, asked)) continue;
    if (nearest == nullptr || words.size() < nearest->words.words.size()) nearest = &all.front();
  }
  return nearest;
}

std::optional<std::string> product_near(const ProductWords& asked) {
  if (const auto* longer = longer_product(asked.words)) return longer->product->name;
  const auto text = join(asked.words, " ");
  std::vector<std::string> known;
  for (const auto& [key, all] : products_by_words()) {
    if (!products_called(key, asked.brands).empty()) known.push_back(key);
  }
  // Of two as near, the one that begins alike: 4090 for 40900, not 4000.
  const auto alike = [&](const std::string& key) {
    return std::mismatch(key.begin(), key.end(), text.begin(), text.end()).first - key.begin();
  };
  std::stable_sort(known.begin(), known.end(),
                   [&](const std::string& a, const std::string& b) { return alike(a) > alike(b); });
  const auto meant = did_you_mean(text, known);
  if (!meant) return std::nullopt;
  return products_called(*meant, asked.brands).front()->product->name;
}

}  // namespace

const std::vector<Product>& products() {
  static const std::vector<Product> all(std::begin(kProducts), std::end(kProducts));
  return all;
}

const char* products_date() {
  return kProductsDate;
}

ProductMatch find_product(std::string_view name) {
  ProductMatch match;
  if (name.size() > kLongestProductName) return match;
  const auto asked = product_words(name);
  if (asked.words.empty()) return match;
  const auto found = products_named(asked);
  if (found.empty()) {
    match.meant = product_near(asked);
    return match;
  }
  for (const auto* named : found) {
    const auto same = [&](const Product* other) { return other->capability == named->product->capability; };
    if (std::none_of(match.candidates.begin(), match.candidates.end(), same)) {
      match.candidates.push_back(named->product);
    }
  }
  if (match.candidates.size() > 1) return match;
  match.candidates.clear();
  const auto exact = std::find_if(found.begin(), found.end(), [&](const NamedProduct* named) {
    return named->words.brands == asked.brands;
  });
  match.product = (exact == found.end() ? found.front() : *exact)->product;
  return match;
}

const ProductMatch& ProductLookup::find(const std::string& name) {
  const auto [known, is_new] = found_.try_emplace(name);
  if (is_new) known->second = find_product(name);
  return known->second;
}

}  // namespace archguard
