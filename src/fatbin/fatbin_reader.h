#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "io/window.h"

namespace archguard::fatbin {

// Reads fat binaries of one object. Error::where of what it returns is the offset within the object, in hex,
// for the caller to place.
class FatbinReader {
 public:
  explicit FatbinReader(Window& in) : in_(in) {}

  // Do the bytes at `offset` begin a fat binary, and no chance sequence? Header and the header of the first
  // entry must be right; whether the whole fits before `end` is another question.
  bool is_fatbin(std::uint64_t offset, std::uint64_t end);

  // is_container() says no: was it one, whose header is damaged? So much of the header is right that it is no
  // constant of a program that makes fat binaries.
  bool is_damaged(std::uint64_t offset, std::uint64_t end);

  // The fat binary at `offset`, of which everything must stand before `end` and parse.
  Result<Fatbin> read(std::uint64_t offset, std::uint64_t end);

  // The end of the fat binary at `offset`, which read() refused, where its size can still be believed.
  std::optional<std::uint64_t> end_of_damaged(std::uint64_t offset, std::uint64_t end);

 private:
  // Fills `entry`, and `next` with where it ends.
  Status read_entry(std::size_t index, std::uint64_t offset, std::uint64_t end, FatbinEntry& entry,
                    std::uint64_t& next);
  Window& in_;
  std::size_t entries_before_ = 0;  // of the fat binary before: most have as many
};

}  // namespace archguard::fatbin
