#include "fatbin/runtime_code.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "base/text.h"
#include "fatbin/dynamic_symbols.h"
#include "host/pe_imports.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

// NVRTC ("NVRTC", 3.4 Compilation), the driver API ("Module Management", "Library Management"), and the
// runtime's Library Management, which CUDA 12.8 brought.
// The mangled one is what cuDNN 9's engines for run-time compilation call NVRTC through (seen in 9.10
// and 9.13).
constexpr std::string_view kFunctions[] = {
    "_ZN11nvrtcHelper4loadEv", "cuLibraryLoadData",   "cuLibraryLoadFromFile", "cuModuleLoad",
    "cuModuleLoadData",        "cuModuleLoadDataEx",  "cuModuleLoadFatBinary", "cudaLibraryLoadData",
    "cudaLibraryLoadFromFile", "nvrtcCompileProgram",
};
constexpr std::size_t kRuntimeCodeNameMost = 32;   // longer than each of them
constexpr std::size_t kRuntimeCodeBlock = 4 * 1024;  // names that are wanted stand apart in a long table

// One of the functions, or nothing.
std::string_view function_of(std::string_view text) {
  const auto end = text.find('\0');
  if (end == std::string_view::npos) return {};
  const auto function = std::find(std::begin(kFunctions), std::end(kFunctions), text.substr(0, end));
  return function == std::end(kFunctions) ? std::string_view{} : *function;
}

// Names are read in their order in the file, where millions of others may stand between them.
std::set<std::string_view> imports_of_elf(const ByteSource& source, const HostObject& host) {
  std::set<std::string_view> found;
  std::vector<std::uint32_t> names;
  visit_wanted_symbols(source, host, [&](const WantedSymbol& symbol) {
    names.push_back(symbol.name);
    return true;
  });
  if (names.empty()) return found;
  std::sort(names.begin(), names.end());
  const Section& texts = *section_of(host, ".dynstr");
  Window in(source, kRuntimeCodeBlock, kRuntimeCodeBlock);
  for (const std::uint32_t name : names) {
    const auto bytes =
        in.at(texts.offset + name,
              static_cast<std::size_t>(std::min<std::uint64_t>(texts.size - name, kRuntimeCodeNameMost)));
    if (!bytes) break;  // the file shrank: whoever reads images says so
    if (const std::string_view function = function_of(bytes->text()); !function.empty())
      found.insert(function);
  }
  return found;
}

// What a damaged table told up to there is a note as well.
std::set<std::string_view> imports_of_pe(const ByteSource& source) {
  std::set<std::string_view> found;
  (void)visit_pe_functions(source, [&](std::string_view name) {
    const auto function = std::find(std::begin(kFunctions), std::end(kFunctions), name);
    if (function != std::end(kFunctions)) found.insert(*function);
  });
  return found;
}

}  // namespace

std::vector<std::string> runtime_code_of(const ByteSource& source, const HostObject& host) {
  if (!host.linked) return {};
  std::set<std::string_view> found;
  if (host.format == HostFormat::elf) found = imports_of_elf(source, host);
  if (host.format == HostFormat::pe) found = imports_of_pe(source);
  return {found.begin(), found.end()};
}

}  // namespace archguard::fatbin
