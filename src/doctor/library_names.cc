#include "doctor/library_names.h"

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/text.h"

namespace archguard::doctor {
namespace {

constexpr std::string_view kFamilies[] = {"cudart",   "nvrtc",    "nvrtc-builtins", "nvJitLink",
                                          "cublas",   "cublasLt", "cudnn",          "nccl",
                                          "cusparse", "cusolver", "cufft",          "curand"};
constexpr std::string_view kRelease = "Cuda compilation tools, release ";
constexpr std::size_t kBlock = std::size_t{1} << 20;

// "cudart-8774224f" and "nvrtc-builtins-2dc4bf68": auditwheel names what it puts into a wheel so.
std::string_view without_hash(std::string_view stem) {
  constexpr std::size_t kDigits = 8;
  if (stem.size() <= kDigits) return stem;
  const std::size_t dash = stem.size() - kDigits - 1;
  const bool is_hash =
      stem[dash] == '-' && stem.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
  return is_hash ? stem.substr(0, dash) : stem;
}

// NVRTC kept the name libnvrtc.so.11.2 from CUDA 11.2 to 11.8: Debian's libnvrtc11.2 is 11.2.152 or 11.8.89,
// and nvidia-cuda-nvrtc-cu11 11.8.89 holds a file of that name.
bool is_name_of_several(std::string_view family, std::string_view version) {
  return family == "nvrtc" && version == "11.2";
}

}  // namespace

bool is_part_of_cudnn(std::string_view family) {
  return starts_with(family, "cudnn_");
}

std::optional<LibraryName> library_name(std::string_view file) {
  if (!starts_with(file, "lib")) return std::nullopt;
  const auto so = file.find(".so");
  if (so == std::string_view::npos) return std::nullopt;
  const std::string_view stem = without_hash(file.substr(3, so - 3));
  if (std::find(std::begin(kFamilies), std::end(kFamilies), stem) == std::end(kFamilies) &&
      !is_part_of_cudnn(stem))
    return std::nullopt;
  LibraryName name{std::string(stem), {}, {}};
  if (const std::string_view rest = file.substr(so + 3); starts_with(rest, ".")) {
    const std::string_view numbers = rest.substr(1);
    const auto dot = numbers.find('.');
    if (const auto major = parse_number(numbers.substr(0, dot), 9999)) name.major = static_cast<int>(*major);
    if (dot != std::string_view::npos && numbers.find_first_not_of("0123456789.") == std::string_view::npos)
      name.version = std::string(numbers);
    if (is_name_of_several(name.family, name.version)) name.version.clear();
  }
  return name;
}

std::optional<Version> leading_version(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of("0123456789", dot + 1), text.size());
  return parse_version(text.substr(0, end));
}

bool is_older(std::string_view a, std::string_view b) {
  const auto parts_a = split(a, '.'), parts_b = split(b, '.');
  for (std::size_t i = 0; i < std::min(parts_a.size(), parts_b.size()); ++i) {
    const auto left = parse_number(parts_a[i], 1'000'000'000),
               right = parse_number(parts_b[i], 1'000'000'000);
    if (!left || !right) return false;
    if (*left != *right) return *left < *right;
  }
  return false;
}

std::optional<Version> release_told_in(const std::string& path) {
  const auto source = FileSource::open(path);
  if (!source) return std::nullopt;
  constexpr std::size_t kOverlap = 64;
  for (std::uint64_t at = 0; at < source->size(); at += kBlock) {
    const auto bytes =
        read_bytes(*source, at, std::min<std::uint64_t>(kBlock + kOverlap, source->size() - at));
    if (!bytes) return std::nullopt;
    const std::string_view text = ByteView(*bytes).text();
    for (auto found = text.find(kRelease); found != std::string_view::npos && found < kBlock;
         found = text.find(kRelease, found + 1))
      if (const auto version = leading_version(text.substr(found + kRelease.size(), 8))) return version;
  }
  return std::nullopt;
}

}  // namespace archguard::doctor
