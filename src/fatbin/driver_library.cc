#include "fatbin/driver_library.h"

#include <set>
#include <string>

#include "base/text.h"
#include "host/elf_dynamic.h"
#include "host/host_file.h"

namespace archguard {

DriverLibrary driver_library(const DeviceObject& object, const ByteSource& file) {
  constexpr std::string_view kName = "libcuda";
  if (!object.linked || !object.registrations.empty()) return DriverLibrary::no;
  const PartSource source = bytes_of(object, file);
  const auto dynamic = read_elf_dynamic(source);
  if (!dynamic || !*dynamic || !starts_with((*dynamic)->soname, kName)) return DriverLibrary::no;
  const std::string& name = (*dynamic)->soname;
  if (name.substr(kName.size(), 1) != "." && name.substr(kName.size(), 1) != "-") return DriverLibrary::no;
  std::set<std::string> missing{"cuInit", "cuDriverGetVersion", "cuGetExportTable"};
  visit_defined_names(source, (*dynamic)->tables, 32, [&](const std::string& each) {
    missing.erase(each);
    return !missing.empty();
  });
  if (!missing.empty()) return DriverLibrary::no;
  return name == "libcuda.so.1" ? DriverLibrary::libcuda : DriverLibrary::renamed;
}

}  // namespace archguard
