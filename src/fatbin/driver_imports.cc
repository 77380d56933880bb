#include "fatbin/driver_imports.h"

#include <algorithm>
#include <optional>
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

bool is_known(std::string_view name) {
  return starts_with(name, "cu") && first_driver_with(name).has_value();
}

bool needs_libcuda(const ElfDynamic& dynamic) {
  return std::any_of(dynamic.needed.begin(), dynamic.needed.end(), [](const std::string& library) {
    return library == "libcuda.so.1" || library == "libcuda.so";
  });
}

struct Functions {
  std::set<std::string> at_start, at_call;
};

void add_of_elf(const ByteSource& source, const HostObject& host, bool binds_now, Functions& functions) {
  const Section* names = fatbin::section_of(host, ".dynstr");
  if (names == nullptr) return;
  std::optional<std::vector<std::uint64_t>> addresses;  // read where a function asks for them
  const auto holds_address = [&](std::uint64_t symbol) {
    if (!addresses) addresses = fatbin::symbols_of_addresses(source, host);
    return std::binary_search(addresses->begin(), addresses->end(), symbol);
  };
  Window texts(source, std::size_t{16} * 1024, kFunctionNameMost + 1);
  fatbin::visit_wanted_symbols(source, host, [&](const fatbin::WantedSymbol& symbol) {
    if (symbol.weak) return true;
    const auto name = texts.text_at(names->offset + symbol.name, kFunctionNameMost);
    if (name && is_known(*name))
      (binds_now || holds_address(symbol.index) ? functions.at_start : functions.at_call).insert(*name);
    return true;
  });
}

}  // namespace

DriverImports driver_imports(const DeviceObject& object, const ByteSource& file) {
  DriverImports imports;
  imports.object = object_name(object.path, object.member);
  if (!object.linked) return imports;
  const PartSource source = bytes_of(object, file);
  Functions functions;
  const auto dynamic = read_elf_dynamic(source);
  if (dynamic && *dynamic) {
    if (!needs_libcuda(**dynamic)) return imports;
    visit_host_file(source, {}, {}, [&](const HostObject& host) {
      add_of_elf(source, host, (*dynamic)->binds_now, functions);
    });
  } else {
    // Of a damaged table what stands before the damage.
    (void)visit_pe_functions(source, [&](std::string_view name) {
      if (is_known(name)) functions.at_call.emplace(name);
    });
  }
  imports.at_start.assign(functions.at_start.begin(), functions.at_start.end());
  imports.at_call.assign(functions.at_call.begin(), functions.at_call.end());
  return imports;
}

}  // namespace archguard
