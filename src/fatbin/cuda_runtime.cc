#include "fatbin/cuda_runtime.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/text.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/format.h"
#include "host/elf_dynamic.h"
#include "host/host_file.h"
#include "host/pe_imports.h"
#include "io/window.h"

namespace archguard {
namespace {

// From CUDA 13 on nvcc for Windows links a part of the runtime that looks for the rest in this DLL, which
// comes with the driver from 580 on (the name seen in files of CUDA 13; where the DLL comes from is claimed).
constexpr std::string_view kHybrid = "nvcudart_hybrid64.dll";

// Texts of the runtime, each with the first release that has it; real.runtimes compares them with each
// release. The whole runtime is one object of libcudart_static.a, so that all of them stay with
// --gc-sections, and in stripped files.
//
// What cudaGetErrorString says of 35 is in each since 11.7, and in NVIDIA's libraries that hold a runtime
// (libcurand, libcusparse, libnvjpeg of 11.8 to 13.0, for Linux and Windows), and not in those without one
// (libcufft, libcuda, libnvrtc).
// A name of an error of 12.0: in all of nvidia-cuda-runtime-cu12 12.0.107 to 12.9.79 and
// nvidia-cuda-runtime 13.0.48 to 13.5.37, not in nvidia-cuda-runtime-cu11 11.7.99 and 11.8.89.
// A message of 13.0: in all of nvidia-cuda-runtime 13.0.48 to 13.5.37, not in those of 11.7 to 12.9.
struct RuntimeText {
  std::string_view text;
  std::optional<Version> first;
  bool of_runtime;  // nothing else has it
};
constexpr RuntimeText kTexts[] = {
    {"CUDA driver version is insufficient for CUDA runtime version", std::nullopt, true},
    {"cudaErrorCdpVersionMismatch", Version{12, 0}, false},
    {"Duplicate entry kernels named \"%s\" detected. The Runtime will use the one that was registered first",
     Version{13, 0}, true},
    {kHybrid, Version{13, 0}, true},
};
constexpr std::size_t kRuntimeTextMost = 128;
constexpr std::size_t kRuntimeBlock = std::size_t{1} << 20;

std::vector<std::string> libraries_of(const ByteSource& source) {
  if (auto dynamic = read_elf_dynamic(source); dynamic && *dynamic) return std::move((*dynamic)->needed);
  if (auto imports = read_pe_imports(source); imports && *imports) return std::move(**imports);
  return {};
}

// What is known of the texts that a file holds.
class TextSearch {
 public:
  explicit TextSearch(const ByteSource& source) : source_(source) {
    for (const RuntimeText& each : kTexts) searchers_.emplace_back(each.text.begin(), each.text.end());
  }

  void search(std::uint64_t offset, std::uint64_t size) {
    Window in(source_, kRuntimeBlock + kRuntimeTextMost, kRuntimeBlock + kRuntimeTextMost);
    for (std::uint64_t at = 0; at < size && !done(); at += kRuntimeBlock) {
      const auto bytes = in.at(offset + at, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                size - at, kRuntimeBlock + kRuntimeTextMost)));
      if (!bytes) return;  // the file shrank: whoever reads images says so
      const std::string_view here = bytes->text();
      for (std::size_t i = 0; i < searchers_.size(); ++i)
        if (!found_[i]) found_[i] = std::search(here.begin(), here.end(), searchers_[i]) != here.end();
    }
  }

  // Nothing that comes can change the answer.
  bool done() const {
    const auto held = result();
    return held && held->at_least == newest_release_told();
  }

  std::optional<HeldRuntime> result() const {
    HeldRuntime held;
    bool any = false;
    for (std::size_t i = 0; i < searchers_.size(); ++i) {
      if (!found_[i]) continue;
      any |= kTexts[i].of_runtime;
      if (kTexts[i].first) held.at_least = std::max(held.at_least, kTexts[i].first);
    }
    return any ? std::optional(held) : std::nullopt;
  }

 private:
  using Searcher = std::boyer_moore_horspool_searcher<std::string_view::const_iterator>;
  const ByteSource& source_;
  std::vector<Searcher> searchers_;  // of kTexts
  bool found_[std::size(kTexts)] = {};
};

bool is_upper(char letter) {
  return letter >= 'A' && letter <= 'Z';
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
  if (text == kHybrid) return RuntimeLibrary{std::string(name), std::nullopt};
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

// The functions of the runtime: cudaMalloc, __cudaRegisterFatBinary, …
bool calls_runtime(const DeviceObject& object, const ByteSource& file) {
  const PartSource source = bytes_of(object, file);
  bool calls = true;
  visit_host_file(source, {}, {}, [&](const HostObject& host) {
    bool wants = false;
    const bool told = fatbin::visit_wanted_symbols(source, host, 6, [&](std::string_view name) {
      wants = name == "__cuda" || (starts_with(name, "cuda") && name.size() > 4 && is_upper(name[4]));
      return !wants;
    });
    calls = wants || !told;
  });
  return calls;
}

std::optional<HeldRuntime> held_runtime(const DeviceObject& object, const ByteSource& file) {
  const PartSource source = bytes_of(object, file);
  TextSearch texts(source);
  visit_host_file(source, {}, {}, [&](const HostObject& host) {
    // Device code has such texts as well: libcudadevrt's.
    if (host.format == HostFormat::cubin || host.format == HostFormat::fatbin ||
        host.format == HostFormat::ptx)
      return;
    if (host.sections.empty()) texts.search(0, source.size());
    std::uint64_t searched = 0;  // sections that share bytes would let a small file cost without end
    for (const Section& section : host.sections) {
      if (texts.done() || !may_hold_texts(section) || section.size > source.size() - searched) continue;
      searched += section.size;
      texts.search(section.offset, section.size);
    }
  });
  return texts.result();
}

Version newest_release_told() {
  Version newest{};
  for (const RuntimeText& each : kTexts)
    if (each.first && newest < *each.first) newest = *each.first;
  return newest;
}

Registered::Registered(const DeviceObject& object) {
  for (const Registration& each : object.registrations)
    if (each.fatbin) offsets_.push_back(object.fatbins[*each.fatbin].offset);
  std::sort(offsets_.begin(), offsets_.end());
}

bool Registered::has(const Fatbin& fatbin) const {
  if (fatbin.bare) return false;
  return fatbin.section.empty() || fatbin::is_linked_section(fatbin.section) ||
         fatbin::is_relocatable_section(fatbin.section) ||
         std::binary_search(offsets_.begin(), offsets_.end(), fatbin.offset);
}

}  // namespace archguard
