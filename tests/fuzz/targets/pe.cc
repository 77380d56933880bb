#include "container/pe_object.h"
#include "host.h"

namespace archguard::fuzz {

void pe(ByteView bytes) {
  if (!is_pe(bytes) && !is_coff_object(bytes, bytes.size)) return;
  HostObject object;
  object.size = bytes.size;
  std::vector<Error> errors;
  read_pe_object(MemorySource(bytes), "f", object, errors);
  check_object(object, bytes.size);
}

}  // namespace archguard::fuzz
