#include "products/product_words.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kBrands[] = {"geforce", "grid", "quadro", "tesla"};

// Form factors, and what the same chip is called in a laptop, in an embedded board, or shared by Kubernetes.
// No two products of different capability differ by these alone; the test of the table holds them to that.
constexpr std::string_view kSilentWords[] = {
    "ac",   "active", "design", "dgxs", "embedded", "fhhl", "generation", "gpu",   "hbm2", "hbm2e",
    "hbm3", "hbm3e",  "laptop", "lc",   "maxq",     "mig",  "mobile",     "nvgpu", "nvl",  "nvl16",
    "oem",  "pcie",   "shared", "sxm",  "sxm2",     "sxm3", "sxm4",       "sxm5",  "sxm6", "with",
};

constexpr std::string_view kMemoryUnits[] = {"g", "gb", "gib"};
constexpr std::string_view kVgpuEnds[] = {"", "me", "nome", "meall", "gfx"};

template <typename List>
bool is_listed(std::string_view word, const List& list) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool is_name_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// Takes the digits that `text` begins with; how many there were.
std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_name_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// 80gb, 144g
bool is_memory_size(std::string_view word) {
  const std::size_t digits = take_digits(word);
  return digits > 0 && digits <= 3 && is_listed(word, kMemoryUnits);
}

// 1g.5gb, 1g.10gb+me, 1c.3g.20gb
bool is_mig_profile(std::string_view word) {
  word = word.substr(0, word.find('+'));
  const auto parts = split(word, '.');
  const auto part_is = [&](std::size_t at, std::string_view unit) {
    auto part = parts[at];
    return take_digits(part) > 0 && part == unit;
  };
  if (parts.size() == 3) return part_is(0, "c") && part_is(1, "g") && part_is(2, "gb");
  return parts.size() == 2 && part_is(0, "g") && part_is(1, "gb");
}

// The end of a virtual GPU's name: 16q, 4c, 2b4, 5cme. NVIDIA's products of three digits and an `a` are
// laptops.
bool is_vgpu_profile(std::string_view word) {
  const std::size_t digits = take_digits(word);
  if (digits == 0 || digits > 3 || word.empty()) return false;
  const char series = word.front();
  word.remove_prefix(1);
  if (series == 'a') return digits < 3 && word.empty();
  if (series == 'b') return word.empty() || word == "4";
  return (series == 'c' || series == 'q') && is_listed(word, kVgpuEnds);
}

// Adds a word, or both of two that some write as one: rtx3090, 3080ti.
void add_word(std::vector<std::string>& words, std::string word) {
  for (const std::string_view line : {"gtx", "gts", "rtx", "gt"}) {
    if (word.size() == line.size() || !starts_with(word, line)) continue;
    const auto rest = std::string_view(word).substr(line.size());
    if (!is_name_digit(rest[0]) && !(rest.size() > 1 && rest[0] == 'a' && is_name_digit(rest[1]))) continue;
    words.emplace_back(line);
    word.erase(0, line.size());
    break;
  }
  for (const std::string_view end : {"ti", "super"}) {
    if (word.size() < end.size() + 3 || !ends_with(word, end)) continue;
    auto number = std::string_view(word).substr(0, word.size() - end.size());
    if (take_digits(number) == 0 || !number.empty()) continue;
    word.erase(word.size() - end.size());
    words.push_back(std::move(word));
    word = end;
    break;
  }
  words.push_back(std::move(word));
}

// In lower case. Dots and plus signs are part of MIG profiles; bytes beyond ASCII part no words, and fit
// none.
std::vector<std::string> all_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) add_word(words, std::move(word));
    word.clear();
  };
  for (const char letter : to_lower(name)) {
    const bool ascii = static_cast<unsigned char>(letter) < 0x80;
    if (ascii && !std::isalnum(static_cast<unsigned char>(letter)) && letter != '.' && letter != '+') {
      end_word();
    } else {
      word += letter;
    }
  }
  end_word();
  return words;
}

}  // namespace

bool names_mig_profile(std::string_view name) {
  const auto words = all_words(name);
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return is_mig_profile(word); });
}

ProductWords product_words(std::string_view name) {
  ProductWords result;
  const auto words = all_words(name);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& word = words[at];
    if (at == 0 && word == "nvidia") continue;
    if (word == "max" && at + 1 < words.size() && words[at + 1] == "q") {
      ++at;
    } else if (is_listed(word, kBrands)) {
      result.brands.push_back(word);
    } else if (!is_listed(word, kSilentWords) && !is_memory_size(word) && !is_mig_profile(word)) {
      result.words.push_back(word);
    }
  }
  auto& kept = result.words;
  if (kept.size() > 1 && is_vgpu_profile(kept.back())) {
    kept.pop_back();
    // A100-7-40C: of the MIG instance of seven slices.
    if (kept.size() > 1 && kept.back().size() == 1 && is_name_digit(kept.back()[0])) kept.pop_back();
  }
  return result;
}

}  // namespace archguard
