#include "image.h"

namespace archguard::fuzz {

void cubin(ByteView bytes) {
  check_image(read_cubin(bytes), bytes.size);
}

}  // namespace archguard::fuzz
