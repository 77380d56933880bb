#include "inflate.h"

namespace archguard::fuzz {

void zstd(ByteView bytes) {
  inflate_one(bytes, Compression::zstd);
}

}  // namespace archguard::fuzz
