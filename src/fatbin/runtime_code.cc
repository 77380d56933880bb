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
constexpr std::size_t kRuntimeCodeNameMost = 32;  // longer than each of them
constexpr std::size_t kRuntimeCodeBlock = std::size_t{64} * 1024;

// One of the functions, where it begins in the table of names. Linkers let a name end another one.
struct Name {
  std::uint64_t offset = 0;
  std::string_view function;
};

constexpr std::size_t kLastLetters = 4;
constexpr std::uint32_t last_letters(std::string_view name) {
  std::uint32_t ending = 0;
  for (const char letter : name.substr(name.size() - kLastLetters))
    ending = ending << 8 | static_cast<unsigned char>(letter);
  return ending;
}

// By their last letters, compared as a number: millions of names are looked at.
bool may_be_function(std::string_view name) {
  const std::uint32_t ending = last_letters(name);
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](std::string_view function) { return last_letters(function) == ending; });
}

// Looks at the ends of names, which are fewer than their letters.
void add_names(std::string_view text, std::uint64_t offset, std::vector<Name>& names) {
  for (auto end = text.find('\0'); end != std::string_view::npos; end = text.find('\0', end + 1)) {
    if (end < kLastLetters || !may_be_function(text.substr(0, end))) continue;
    for (const std::string_view function : kFunctions)
      if (ends_with(text.substr(0, end), function))
        names.push_back({offset + end - function.size(), function});
  }
}

// By offset. Most files have none of the names, and their symbols are not read.
std::vector<Name> names_in(const ByteSource& source, const Section& table) {
  std::vector<Name> names;
  Window in(source, kRuntimeCodeBlock + kRuntimeCodeNameMost, kRuntimeCodeBlock + kRuntimeCodeNameMost);
  for (std::uint64_t at = 0; at < table.size; at += kRuntimeCodeBlock) {
    const auto bytes =
        in.at(table.offset + at, static_cast<std::size_t>(std::min<std::uint64_t>(
                                     table.size - at, kRuntimeCodeBlock + kRuntimeCodeNameMost)));
    if (!bytes) break;  // the file shrank: whoever reads images says so
    add_names(bytes->text(), at, names);
  }
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.offset < b.offset; });
  return names;
}

std::set<std::string_view> imports_of_elf(const ByteSource& source, const HostObject& host) {
  std::set<std::string_view> found;
  const Section* texts = section_of(host, ".dynstr");
  if (texts == nullptr) return found;
  const std::vector<Name> names = names_in(source, *texts);
  if (names.empty()) return found;
  visit_wanted_symbols(source, host, [&](const WantedSymbol& symbol) {
    const auto name = std::lower_bound(names.begin(), names.end(), symbol.name,
                                       [](const Name& one, std::uint32_t at) { return one.offset < at; });
    if (name != names.end() && name->offset == symbol.name) found.insert(name->function);
    return true;
  });
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
