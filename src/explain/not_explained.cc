#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/error_codes.h"
#include "explain/explain.h"
#include "explain/other_vendors.h"
#include "explain/pasted_text.h"
#include "explain/table.h"

namespace archguard {
namespace {

constexpr const char* kLogFix =
    "give the whole log, from its first error on: archguard explain - < LOG; archguard verify FILE --device "
    "CC "
    "shows whether a file has code for a GPU";

bool is_explained(int code) {
  const auto& errors = cuda_errors();
  return std::any_of(errors.begin(), errors.end(), [code](const KnownError& error) {
    return std::find(error.codes.begin(), error.codes.end(), code) != error.codes.end();
  });
}

// The number that the text is: "3", "error 3".
std::optional<int> number_told(const PastedText& pasted) {
  constexpr std::uint64_t kMost = 999'999'999;
  std::string_view told = pasted.lower;
  told = told.substr(0, told.find_last_of("0123456789") + 1);  // nothing where there is no digit
  const auto number = parse_number(told.substr(told.find_last_not_of("0123456789") + 1), kMost);
  if (!number || !find_error_code(pasted, static_cast<int>(*number))) return std::nullopt;
  return static_cast<int>(*number);
}

Error not_among_known(int code) {
  if (code == 0) return {{}, "0 is cudaSuccess: no error", {}};
  std::vector<std::string> known;
  for (const int each : {kInsufficientDriver, kInvalidKernelImage, kNoKernelImage, kUnsupportedPtxVersion})
    known.push_back(std::to_string(each));
  return {
      {},
      std::to_string(code) + " is not among the errors that are known here (" + join(known, ", ") + ", …)",
      "see cudaError_t in NVIDIA's CUDA Runtime API reference"};
}

// Does the name begin as the word does, which says enough of it to tell it: "cudaErrorNoKernelImage"?
bool begins_as(const std::string& name, const std::string& word) {
  constexpr std::size_t kEnough = 14;  // "cudaErrorInval" and "CUDA_ERROR_INV" tell some already
  return word.size() >= kEnough && starts_with(to_lower(name), word);
}

// "cudaErrorNoKernelImageForDevice (209)", of the names that begin so the only one, or the nearest.
std::string name_meant(const std::string& word) {
  std::vector<std::string> names, lower;
  std::vector<int> codes;
  std::vector<std::size_t> beginning;
  for (const ErrorNames& each : known_errors())
    for (const std::string name : {each.runtime, each.driver}) {
      if (name.empty() || !is_explained(each.code)) continue;
      if (begins_as(name, word)) beginning.push_back(names.size());
      names.push_back(name), lower.push_back(to_lower(name)), codes.push_back(each.code);
    }
  const auto told = [&](std::size_t at) { return names[at] + " (" + std::to_string(codes[at]) + ")"; };
  if (beginning.size() == 1) return told(beginning.front());
  const auto nearest = did_you_mean(word, lower);
  if (!nearest) return {};
  return told(static_cast<std::size_t>(std::find(lower.begin(), lower.end(), *nearest) - lower.begin()));
}

}  // namespace

Error not_explained(std::string_view text) {
  const PastedText pasted = read_pasted(text.substr(0, kMostExplainedBytes));
  if (const std::string_view vendor = other_vendor_of(pasted); !vendor.empty())
    return {
        {},
        "this text is of " + std::string(vendor) + ", not of NVIDIA's CUDA: it is not explained",
        "look for it in the documentation of that vendor: its libraries have CUDA's numbers and sentences "
        "for errors of their own"};
  if (const auto code = number_told(pasted)) return not_among_known(*code);
  constexpr std::size_t kLongestName = 80;
  const bool is_word = pasted.lower.find(' ') == std::string::npos && pasted.lower.size() <= kLongestName;
  const std::string meant = is_word ? name_meant(pasted.lower) : std::string();
  if (!meant.empty())
    return {{}, "'" + printable(pasted.text) + "' is not a known error", "did you mean " + meant + "?"};
  return {{}, "this text holds no error that archguard knows", kLogFix};
}

}  // namespace archguard
