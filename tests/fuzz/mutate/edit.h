#pragma once

#include <vector>

#include "layout.h"

namespace archguard::fuzz {

// A part of the old bytes, or bytes that are new.
struct Piece {
  std::size_t begin = 0, end = 0;
  Bytes fresh;
  bool is_fresh = false;
};

inline Piece old_bytes(std::size_t begin, std::size_t end) {
  return {begin, end, {}, false};
}
inline Piece new_bytes(Bytes bytes) {
  return {0, 0, std::move(bytes), true};
}

// Puts `pieces` where [begin, end) was. `group`'s units become more by `more`.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::vector<Piece> pieces;
  std::size_t group = 0;
  int more = 0;
};

// The bytes with the edit made. With `mend` the sizes, offsets and counts of the layout are set to what they
// are now: sizes that hold the place grow, offsets follow what they point at.
Bytes edited(const Layout& layout, const Edit& edit, bool mend);

}  // namespace archguard::fuzz
