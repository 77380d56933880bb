#include "inflate.h"

namespace archguard::fuzz {

void lz4(ByteView bytes) {
  inflate_one(bytes, Compression::lz4);
}

}  // namespace archguard::fuzz
