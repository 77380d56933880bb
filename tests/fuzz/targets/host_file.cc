#include "host/host_file.h"

#include "host.h"

namespace archguard::fuzz {

void host_file(ByteView bytes) {
  if (names_files(bytes)) return;
  const HostFile file = read_host_file(MemorySource(bytes), "f");
  for (const HostObject& object : file.objects) check_object(object, bytes.size);
  promise(file.recognized || !file.errors.empty());
}

}  // namespace archguard::fuzz
