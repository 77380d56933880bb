#include "fatbin/driver_library.h"

#include <set>
#include <string>

#include "base/text.h"
#include "fatbin/host_names.h"
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

// The libraries that hold device code for their own use, beside libcuda: the beginning of their names, and a
// function of each (driver 535.261.03, CUPTI 12.6).
struct Part {
  std::string_view name;
  const char* function;
  DriverLibrary kind;
};
constexpr const char* kFunctionOfProfiler = "NVPW_InitializeTarget";
constexpr Part kParts[] = {
    {"libnvoptix.so.", "optixQueryFunctionTable", DriverLibrary::part},
    {"libnvcuvid.so.", "cuvidCreateDecoder", DriverLibrary::part},
    {"libnvidia-opencl.so.", "clGetExportTable", DriverLibrary::part},
    {"libnvidia-glcore.so.", "_nv000glcore", DriverLibrary::part},
    {"libnvidia-eglcore.so.", "NvGlEglApiInit", DriverLibrary::part},
    {"libnvperf_host.so", kFunctionOfProfiler, DriverLibrary::profiler},
    {"libnvperf_target.so", kFunctionOfProfiler, DriverLibrary::profiler},
};

bool defines(const PartSource& source, const ElfDynamic& dynamic, std::set<std::string> names) {
  visit_defined_names(source, dynamic.tables, 32, [&](const std::string& each) {
    names.erase(each);
    return !names.empty();
  });
  return names.empty();
}

}  // namespace

bool holds_profiler(const DeviceObject& object, const ByteSource& file) {
  return !count_host_functions(object, file, {kFunctionOfProfiler}).empty();
}

DriverLibrary driver_library(const DeviceObject& object, const ByteSource& file) {
  constexpr std::string_view kName = "libcuda";
  if (!object.linked) return DriverLibrary::no;
  const PartSource source = bytes_of(object, file);
  const auto dynamic = read_elf_dynamic(source);
  if (!dynamic || !*dynamic) return DriverLibrary::no;
  const std::string& name = (*dynamic)->soname;
  for (const Part& part : kParts)
    if (starts_with(name, part.name) && defines(source, **dynamic, {part.function})) return part.kind;
  if (!starts_with(name, kName) || !object.registrations.empty()) return DriverLibrary::no;
  if (!is_name_of_driver(name.substr(kName.size()))) return DriverLibrary::no;
  if (!defines(source, **dynamic, {"cuInit", "cuDriverGetVersion", "cuGetExportTable"}))
    return DriverLibrary::no;
  return name == "libcuda.so.1" ? DriverLibrary::libcuda : DriverLibrary::renamed;
}

}  // namespace archguard
