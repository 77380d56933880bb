#include "fatbin/cuda_runtime.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "container/elf_dynamic.h"
#include "container/host_file.h"
#include "container/pe_imports.h"
#include "container/window.h"
#include "fatbin/format.h"

namespace archguard {
namespace {

// What cudaGetErrorString says of 35. It is in libcudart_static of CUDA 11.8 to 13.0, in NVIDIA's libraries
// that hold a runtime (libcurand, libcusparse, libnvjpeg of 11.8 to 13.0, for Linux and Windows), in stripped
// files too, and not in those without one (libcufft, libcuda) (seen).
// From CUDA 13 on nvcc for Windows links a part of the runtime that looks for the rest in this DLL, which
// comes with the driver from 580 on (the name seen in files of CUDA 13; where the DLL comes from is claimed).
constexpr std::string_view kTextsOfRuntime[] = {
    "CUDA driver version is insufficient for CUDA runtime version", "nvcudart_hybrid64.dll"};
constexpr std::size_t kTextMost = 64;
constexpr std::size_t kBlock = std::size_t{1} << 20;

std::vector<std::string> libraries_of(const ByteSource& source) {
  if (auto dynamic = read_elf_dynamic(source); dynamic && *dynamic) return std::move((*dynamic)->needed);
  if (auto imports = read_pe_imports(source); imports && *imports) return std::move(**imports);
  return {};
}

bool holds_text(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  Window in(source, kBlock + kTextMost, kBlock + kTextMost);
  for (std::uint64_t at = 0; at < size; at += kBlock) {
    const auto bytes =
        in.at(offset + at, static_cast<std::size_t>(std::min<std::uint64_t>(size - at, kBlock + kTextMost)));
    if (!bytes) return false;  // the file shrank: whoever reads images says so
    const std::string_view here = bytes->text();
    for (const std::string_view text : kTextsOfRuntime)
      if (std::search(here.begin(), here.end(),
                      std::boyer_moore_horspool_searcher(text.begin(), text.end())) != here.end())
        return true;
  }
  return false;
}

bool may_hold_texts(const Section& section) {
  return section.has_bytes && section.data && !section.executable &&
         !fatbin::is_linked_section(section.name) && !fatbin::is_relocatable_section(section.name);
}

// "13", "11.0", "12.4.127"
std::optional<Version> version_in(std::string_view text) {
  const auto parts = split(text, '.');
  const auto major = parse_number(parts[0], 99);
  const auto minor = parts.size() > 1 ? parse_number(parts[1], 99) : std::optional<std::uint64_t>(0);
  if (!major || *major == 0 || !minor) return std::nullopt;
  return Version{static_cast<int>(*major), static_cast<int>(*minor)};
}

// Windows' names have no dot: 12 and 13 are major versions, 65 to 92 and 100 to 110 have the minor digit.
std::optional<Version> version_in_dll(std::string_view digits) {
  const auto number = parse_number(digits, 999);
  if (!number || *number == 0) return std::nullopt;
  const int value = static_cast<int>(*number);
  return value < 30 ? Version{value, 0} : Version{value / 10, value % 10};
}

}  // namespace

std::optional<RuntimeLibrary> runtime_library(std::string_view name) {
  const std::string lower = to_lower(name);
  const std::string_view text = lower;
  for (const std::string_view prefix : {"cudart64_", "cudart32_"}) {
    if (!starts_with(text, prefix) || !ends_with(text, ".dll")) continue;
    const std::string_view rest = text.substr(prefix.size(), text.size() - prefix.size() - 4);
    const auto version = version_in_dll(rest.substr(0, rest.find('-')));  // a wheel's name has a hash behind
    return RuntimeLibrary{std::string(name), version};
  }
  if (text == kTextsOfRuntime[1]) return RuntimeLibrary{std::string(name), std::nullopt};
  constexpr std::string_view kPrefix = "libcudart", kEnd = ".so";
  if (!starts_with(text, kPrefix)) return std::nullopt;
  const std::string_view rest = text.substr(kPrefix.size());
  const auto so = rest.find(kEnd);
  if (so == std::string_view::npos || (so != 0 && rest[0] != '-')) return std::nullopt;
  const std::string_view behind = rest.substr(so + kEnd.size());
  if (!behind.empty() && behind[0] != '.') return std::nullopt;
  return RuntimeLibrary{std::string(name), behind.empty() ? std::nullopt : version_in(behind.substr(1))};
}

std::optional<RuntimeLibrary> needed_runtime(const DeviceObject& object, const ByteSource& file) {
  std::optional<RuntimeLibrary> newest;
  for (const std::string& name : libraries_of(bytes_of(object, file))) {
    auto library = runtime_library(name);
    if (library && (!newest || newest->version < library->version)) newest = std::move(library);
  }
  return newest;
}

bool holds_runtime(const DeviceObject& object, const ByteSource& file) {
  const PartSource source = bytes_of(object, file);
  bool holds = false;
  visit_host_file(source, {}, {}, [&](const HostObject& host) {
    if (host.sections.empty()) holds = holds_text(source, 0, source.size());
    std::uint64_t searched = 0;  // sections that share bytes would let a small file cost without end
    for (const Section& section : host.sections) {
      if (holds || !may_hold_texts(section) || section.size > source.size() - searched) continue;
      searched += section.size;
      holds = holds_text(source, section.offset, section.size);
    }
  });
  return holds;
}

Registered::Registered(const DeviceObject& object) {
  for (const Registration& each : object.registrations)
    if (each.container) offsets_.push_back(object.containers[*each.container].offset);
  std::sort(offsets_.begin(), offsets_.end());
}

bool Registered::has(const Container& container) const {
  if (container.bare) return false;
  return container.section.empty() || fatbin::is_linked_section(container.section) ||
         fatbin::is_relocatable_section(container.section) ||
         std::binary_search(offsets_.begin(), offsets_.end(), container.offset);
}

}  // namespace archguard
