#include "explain/other_vendors.h"

namespace archguard {
namespace {

constexpr std::string_view kAmd = "AMD's ROCm", kZluda = "ZLUDA", kMusa = "Moore Threads' MUSA";

// Here a text of CUDA names another vendor.
constexpr std::string_view kNoVendor[] = {
    "rocm used to build pytorch: n/a",
    "rocm version: could not collect",
    "hip runtime version: n/a",
    "backend 'rocm'",
    "platform with name: \"rocm\"",
    "version.hip",
    "hip: none",
    "cuda/rocm",
    "rocm/cuda",
    "cuda or rocm",
    "rocm or cuda",
};

bool is_vendor_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_vendor_letter(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string without_harmless(std::string lower) {
  for (const std::string_view phrase : kNoVendor)
    for (auto at = lower.find(phrase); at != std::string::npos; at = lower.find(phrase, at))
      lower.replace(at, phrase.size(), phrase.size(), ' ');
  return lower;
}

// "ROCm", "rocm6.2"
bool is_rocm(std::string_view rest) {
  return rest.size() == 4 || !is_vendor_letter(rest[4]);
}

// "gfx1032", "gfx90c"
bool is_gfx(std::string_view rest) {
  return rest.size() > 5 && is_vendor_digit(rest[3]) && is_vendor_digit(rest[4]);
}

// "HIP", "hipError…", "HIPException", and not "hippo" or "HIPPO".
bool is_hip(std::string_view rest) {
  const auto is_small = [rest](std::size_t at) {
    return at < rest.size() && rest[at] >= 'a' && rest[at] <= 'z';
  };
  if (rest.size() == 3 || !(is_vendor_letter(rest[3]) || is_vendor_digit(rest[3]))) return true;
  return rest[3] >= 'A' && rest[3] <= 'Z' && is_small(4);
}

// "MUSA", "musaError", and not the folder of a user of that name.
bool is_musa(std::string_view before, std::string_view rest) {
  if (!before.empty() && (before.back() == '/' || before.back() == '\\')) return false;
  return rest.size() == 4 || !is_vendor_letter(rest[4]) || rest.substr(4, 5) == "Error";
}

std::string_view vendor_at(std::string_view text, std::string_view lower, std::size_t at) {
  const std::string_view word = lower.substr(at), rest = text.substr(at);
  if (word.substr(0, 5) == "zluda") return kZluda;
  if (at != 0 && (is_vendor_letter(text[at - 1]) || is_vendor_digit(text[at - 1]))) return {};
  if (word.substr(0, 4) == "rocm" && is_rocm(rest)) return kAmd;
  if (word.substr(0, 3) == "gfx" && is_gfx(rest)) return kAmd;
  if (word.substr(0, 3) == "hip" && is_hip(rest)) return kAmd;
  if (word.substr(0, 4) == "musa" && is_musa(text.substr(0, at), rest)) return kMusa;
  return {};
}

}  // namespace

std::string_view other_vendor_of(const PastedText& pasted) {
  const std::string lower = without_harmless(pasted.lower);
  for (auto at = lower.find_first_of("rghzm"); at != std::string::npos;
       at = lower.find_first_of("rghzm", at + 1))
    if (const auto vendor = vendor_at(pasted.text, lower, at); !vendor.empty()) return vendor;
  return {};
}

}  // namespace archguard
