#include "fatbin/driver_imports.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compat/driver_functions.h"
#include "fatbin/dynamic_symbols.h"
#include "host/elf_dynamic.h"
#include "host/host_file.h"
#include "host/pe_imports.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::size_t kFunctionNameMost = 127;  // longer than any of them

void add(std::string_view name, std::set<std::string>& functions) {
  if (starts_with(name, "cu") && first_driver_with(name)) functions.emplace(name);
}

bool needs_libcuda(const ElfDynamic& dynamic) {
  return std::any_of(dynamic.needed.begin(), dynamic.needed.end(), [](const std::string& library) {
    return library == "libcuda.so.1" || library == "libcuda.so";
  });
}

void add_of_elf(const ByteSource& source, const HostObject& host, std::set<std::string>& functions) {
  const Section* names = fatbin::section_of(host, ".dynstr");
  if (names == nullptr) return;
  Window texts(source, std::size_t{16} * 1024, kFunctionNameMost + 1);
  fatbin::visit_wanted_symbols(source, host, [&](const fatbin::WantedSymbol& symbol) {
    if (symbol.weak) return true;
    const auto name = texts.text_at(names->offset + symbol.name, kFunctionNameMost);
    if (name) add(*name, functions);
    return true;
  });
}

}  // namespace

DriverImports driver_imports(const DeviceObject& object, const ByteSource& file) {
  DriverImports imports;
  imports.object = object_name(object.path, object.member);
  if (!object.linked) return imports;
  const PartSource source = bytes_of(object, file);
  std::set<std::string> functions;
  const auto dynamic = read_elf_dynamic(source);
  if (dynamic && *dynamic) {
    if (!needs_libcuda(**dynamic)) return imports;
    imports.at_start = (*dynamic)->binds_now;
    visit_host_file(source, {}, {}, [&](const HostObject& host) { add_of_elf(source, host, functions); });
  } else {
    // Of a damaged table what stands before the damage.
    (void)visit_pe_functions(source, [&](std::string_view name) { add(name, functions); });
  }
  imports.functions.assign(functions.begin(), functions.end());
  return imports;
}

}  // namespace archguard
