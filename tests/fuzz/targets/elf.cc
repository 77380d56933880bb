#include "host/elf_object.h"
#include "host.h"

namespace archguard::fuzz {

void elf(ByteView bytes) {
  HostObject object;
  object.size = bytes.size;
  std::vector<Error> errors;
  read_elf_object(MemorySource(bytes), "f", object, errors);
  check_object(object, bytes.size);
}

}  // namespace archguard::fuzz
