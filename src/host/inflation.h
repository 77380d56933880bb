#pragma once

#include <zlib.h>

namespace archguard {

// zlib's state, ended with its owner. For the sources of this folder.
struct Inflation {
  // As of inflateInit2(): -MAX_WBITS is raw deflate, MAX_WBITS zlib's own format.
  explicit Inflation(int window_bits) : ready(::inflateInit2(&stream, window_bits) == Z_OK) {}
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() {
    if (ready) ::inflateEnd(&stream);
  }

  z_stream stream{};
  bool ready = false;  // else there is no memory
};

}  // namespace archguard
