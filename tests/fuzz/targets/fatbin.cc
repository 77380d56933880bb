#include "device_code.h"

namespace archguard::fuzz {

// Any file that holds fat binaries, or is one.
void fatbin(ByteView bytes) {
  if (names_files(bytes)) return;
  const DeviceCode code = read_all(bytes);
  // What begins with the magic is a fat binary, every byte of which is read as such or is an error.
  if (bytes.size < 4 || Cursor(bytes).u32(0) != 0xBA55ED50 || !code.errors.empty()) return;
  promise(code.objects.size() == 1 && !code.objects[0].fatbins.empty());
}

}  // namespace archguard::fuzz
