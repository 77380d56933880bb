#include "fatbin/runtime_code.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "container/window.h"

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
// Parts of these names that few others have, one in each.
constexpr std::string_view kParts[] = {"LibraryLoad", "ModuleLoad", "CompileProgram", "nvrtcHelper"};
constexpr std::size_t kNameMost = 32;  // longer than each of them
constexpr std::size_t kBlock = std::size_t{64} * 1024;
constexpr std::size_t kSymbolsMost = std::size_t{1} << 22;  // far more than any library has

const Section* section_of(const HostObject& host, std::string_view name) {
  const auto found = std::find_if(host.sections.begin(), host.sections.end(),
                                  [&](const Section& each) { return each.name == name && each.has_bytes; });
  return found == host.sections.end() ? nullptr : &*found;
}

// One of the functions, where it begins in the table of names. Linkers let a name end another one.
struct Name {
  std::uint64_t offset = 0;
  std::string_view function;
};

void add_names(std::string_view text, std::uint64_t offset, std::vector<Name>& names) {
  for (const std::string_view part : kParts) {
    const std::boyer_moore_horspool_searcher searcher(part.begin(), part.end());
    for (auto at = text.begin();;) {
      at = std::search(at, text.end(), searcher);
      if (at == text.end()) break;
      const auto part_at = static_cast<std::size_t>(at++ - text.begin());
      for (const std::string_view function : kFunctions) {
        const auto within = function.find(part);
        if (within == std::string_view::npos || within > part_at) continue;
        const std::string_view here = text.substr(part_at - within);
        if (starts_with(here, function) && here.size() > function.size() && here[function.size()] == '\0')
          names.push_back({offset + part_at - within, function});
      }
    }
  }
}

// By offset. Most files have none of the names, and their symbols are not read.
std::vector<Name> names_in(const ByteSource& source, const Section& table) {
  std::vector<Name> names;
  Window in(source, kBlock + kNameMost, kBlock + kNameMost);
  for (std::uint64_t at = 0; at < table.size; at += kBlock) {
    const auto bytes =
        in.at(table.offset + at,
              static_cast<std::size_t>(std::min<std::uint64_t>(table.size - at, kBlock + kNameMost)));
    if (!bytes) break;  // the file shrank: whoever reads images says so
    add_names(bytes->text(), at, names);
  }
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.offset < b.offset; });
  return names;
}

// ELF's symbols: u32 name, u16 section (0: to be found elsewhere) at 6 of 24 bytes; at 14 of 16 in 32-bit
// files.
std::vector<std::string> imports_of_elf(const ByteSource& source, const HostObject& host) {
  const Section *symbols = section_of(host, ".dynsym"), *texts = section_of(host, ".dynstr");
  if (symbols == nullptr || texts == nullptr) return {};
  const std::vector<Name> names = names_in(source, *texts);
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(5, source.size()));
  if (names.empty() || !start || start->size() < 5) return {};
  const bool is64 = (*start)[4] == 2;
  const std::size_t each = is64 ? 24 : 16, section_at = is64 ? 6 : 14;
  std::set<std::string_view> found;
  Window table(source, each * 512, each * 512);
  const std::uint64_t count = std::min<std::uint64_t>(symbols->size / each, kSymbolsMost);
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto bytes = table.at(symbols->offset + i * each, each);
    if (!bytes) break;  // likewise
    const Cursor symbol(*bytes);
    if (symbol.u16(section_at) != 0) continue;
    const std::uint32_t offset = symbol.u32(0);
    const auto name = std::lower_bound(names.begin(), names.end(), offset,
                                       [](const Name& one, std::uint32_t at) { return one.offset < at; });
    if (name != names.end() && name->offset == offset) found.insert(name->function);
  }
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<std::string> runtime_code_of(const ByteSource& source, const HostObject& host) {
  if (!host.linked || host.format != HostFormat::elf) return {};
  return imports_of_elf(source, host);
}

}  // namespace archguard::fatbin
