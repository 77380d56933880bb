#include "fatbin/driver_imports.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "compat/driver_functions.h"
#include "host/elf_dynamic.h"
#include "host/host_file.h"
#include "host/pe_imports.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::size_t kFunctionNameMost = 127;  // longer than any of them
constexpr std::size_t kNamesBlock = std::size_t{64} * 1024;

// Beginnings and whole names of libraries, without what follows the first dot.
constexpr std::string_view kOtherLibraries[] = {
    "ld64", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libresolv", "libutil", "libanl",
    "libgcc_s", "libstdc++", "libatomic", "libgomp",
    // the CUDA toolkit and NVIDIA's libraries beside it
    "libcudart", "libcufile", "libnccl", "libnvToolsExt", "libcupti",
    // PyTorch
    "libtorch", "libtorch_cpu", "libtorch_cuda", "libtorch_python", "libc10", "libc10_cuda"};
constexpr std::string_view kOtherFamilies[] = {"ld-linux",     "libcublas",   "libcudnn",    "libcufft",
                                               "libcurand",    "libcusolver", "libcusparse", "libnpp",
                                               "libnvJitLink", "libnvinfer",  "libnvjpeg",   "libnvrtc"};

std::string name_in_path(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_known(std::string_view name) {
  return starts_with(name, "cu") && first_driver_with(name).has_value();
}

bool is_libcuda(const std::string& library) {
  const std::string name = name_in_path(library);
  return name == "libcuda.so.1" || name == "libcuda.so";
}

// Most files have none, and their relocations are not read: "cu", and a capital.
bool may_name_functions(const ByteSource& source, const ElfPlace& texts) {
  Window in(source, kNamesBlock + 3, kNamesBlock + 3);
  for (std::uint64_t at = 0; at < texts.size; at += kNamesBlock) {
    const auto bytes =
        in.at(texts.offset + at,
              static_cast<std::size_t>(std::min<std::uint64_t>(texts.size - at, kNamesBlock + 2)));
    if (!bytes) break;  // the file shrank: whoever reads images says so
    const std::string_view text = bytes->text();
    for (auto found = text.find("cu"); found != std::string_view::npos; found = text.find("cu", found + 1))
      if (found + 2 < text.size() && text[found + 2] >= 'A' && text[found + 2] <= 'Z') return true;
  }
  return false;
}

bool is_python_module(const ByteSource& source, const ElfTables& tables) {
  bool found = false;
  visit_defined_names(source, tables, kFunctionNameMost, [&](const std::string& name) {
    found = starts_with(name, "PyInit_");
    return !found;
  });
  return found;
}

void add_of_elf(const ByteSource& source, const ElfDynamic& dynamic, DriverImports& imports) {
  imports.shared = dynamic.shared;
  imports.needs_libcuda = std::any_of(dynamic.needed.begin(), dynamic.needed.end(), is_libcuda);
  std::copy_if(dynamic.needed.begin(), dynamic.needed.end(), std::back_inserter(imports.needed),
               may_define_driver_functions);
  if (!may_name_functions(source, dynamic.tables.texts)) return;
  visit_wanted_names(source, dynamic.tables, kFunctionNameMost, [&](const WantedName& wanted) {
    if (!wanted.weak && is_known(wanted.name))
      (dynamic.binds_now || !wanted.of_call ? imports.at_start : imports.at_call).insert(wanted.name);
  });
  if (dynamic.shared && !imports.at_call.empty() && is_python_module(source, dynamic.tables))
    imports.at_start.merge(imports.at_call);
}

}  // namespace

DriverImports driver_imports(const DeviceObject& object, const ByteSource& file) {
  DriverImports imports;
  imports.object = object_name(object.path, object.member);
  if (!object.linked) return imports;
  const PartSource source = bytes_of(object, file);
  const auto dynamic = read_elf_dynamic(source);
  if (!dynamic) return imports;  // the loader refuses it: --needed says so
  if (*dynamic) {
    add_of_elf(source, **dynamic, imports);
  } else {
    // Of a damaged table what stands before the damage.
    (void)visit_pe_functions(source, [&](std::string_view name) {
      if (is_known(name)) imports.at_call.emplace(name);
    });
  }
  return imports;
}

bool may_define_driver_functions(const std::string& library) {
  const std::string name = name_in_path(library);
  const std::string_view stem = std::string_view(name).substr(0, name.find('.'));
  return !is_libcuda(library) &&
         std::find(std::begin(kOtherLibraries), std::end(kOtherLibraries), stem) ==
             std::end(kOtherLibraries) &&
         std::none_of(std::begin(kOtherFamilies), std::end(kOtherFamilies),
                      [&](std::string_view family) { return starts_with(stem, family); });
}

}  // namespace archguard
