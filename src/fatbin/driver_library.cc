#include "fatbin/driver_library.h"

#include <set>
#include <string>

#include "base/text.h"
#include "host/elf_dynamic.h"
#include "host/host_file.h"

namespace archguard {
namespace {

// Behind "libcuda": ".so…", or what auditwheel puts in between, eight digits of a hash. What stands in front
// of the driver, as Nsight Compute's libcuda-injection.so, has a name of its own.
bool is_name_of_driver(std::string_view rest) {
  constexpr std::size_t kHash = 1 + 8;
  if (starts_with(rest, "-") && rest.size() > kHash &&
      rest.substr(1, kHash - 1).find_first_not_of("0123456789abcdef") == std::string_view::npos)
    rest.remove_prefix(kHash);
  return starts_with(rest, ".so");
}

}  // namespace

DriverLibrary driver_library(const DeviceObject& object, const ByteSource& file) {
  constexpr std::string_view kName = "libcuda";
  if (!object.linked || !object.registrations.empty()) return DriverLibrary::no;
  const PartSource source = bytes_of(object, file);
  const auto dynamic = read_elf_dynamic(source);
  if (!dynamic || !*dynamic || !starts_with((*dynamic)->soname, kName)) return DriverLibrary::no;
  const std::string& name = (*dynamic)->soname;
  if (!is_name_of_driver(name.substr(kName.size()))) return DriverLibrary::no;
  std::set<std::string> missing{"cuInit", "cuDriverGetVersion", "cuGetExportTable"};
  visit_defined_names(source, (*dynamic)->tables, 32, [&](const std::string& each) {
    missing.erase(each);
    return !missing.empty();
  });
  if (!missing.empty()) return DriverLibrary::no;
  return name == "libcuda.so.1" ? DriverLibrary::libcuda : DriverLibrary::renamed;
}

}  // namespace archguard
