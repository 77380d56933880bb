#include "image.h"

namespace archguard::fuzz {

void ptx(ByteView bytes) {
  check_image(read_ptx(bytes), bytes.size);
}

}  // namespace archguard::fuzz
