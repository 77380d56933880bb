#include "host/pe_imports.h"
#include "host/coff_object.h"
#include "fatbin/cuda_runtime.h"
#include "host.h"

namespace archguard::fuzz {

void pe(ByteView bytes) {
  if (!is_pe(bytes) && !is_coff_object(bytes, bytes.size)) return;
  HostObject object;
  object.size = bytes.size;
  std::vector<Error> errors;
  read_coff_object(MemorySource(bytes), "f", object, errors);
  check_object(object, bytes.size);
  const auto imports = read_pe_imports(MemorySource(bytes));
  if (!imports || !*imports) return;
  promise((*imports)->size() <= 4096);
  for (const std::string& name : **imports) {
    promise(name.size() <= 255 && name.find('\0') == std::string::npos);
    runtime_library(name);
  }
  std::size_t functions = 0;
  (void)visit_pe_functions(MemorySource(bytes), [&](std::string_view name) {
    promise(name.size() <= 255 && name.find('\0') == std::string_view::npos && ++functions <= 65536);
  });
}

}  // namespace archguard::fuzz
