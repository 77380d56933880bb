#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "io/temporary_file.h"

namespace archguard::fatbin {

// Fat binaries in some 30 bytes an image, one behind the other, to be read again in the same order. Beyond
// `most` bytes they lie in a temporary file; where none can be made or has room, they stay in memory.
class PackedFatbins {
 public:
  explicit PackedFatbins(std::size_t most = std::size_t{1} << 20) : most_(most) {}

  // Where the next that is added will begin, for a Reader to start there.
  std::uint64_t begin_run();
  void add(const Fatbin& fatbin);
  std::size_t in_memory() const { return memory_.size(); }  // bytes

  // Reads one after the other; `packed` outlives it, and nothing is added meanwhile.
  class Reader {
   public:
    explicit Reader(const PackedFatbins& packed, std::uint64_t begin = 0) : packed_(packed), at_(begin) {}
    // Fails behind the last, and where the temporary file cannot be read: from there on.
    Result<Fatbin> next();

   private:
    std::uint8_t byte();
    std::uint64_t number();
    std::string text();
    FatbinEntry entry(std::uint64_t& at);
    void fill();

    const PackedFatbins& packed_;
    std::uint64_t at_;  // of what stands behind the buffer
    Bytes buffer_;
    std::size_t used_ = 0;
    std::optional<Error> failed_;
    std::string section_;
    std::uint64_t section_offset_ = 0;
  };

 private:
  void put(std::uint64_t number);
  void put(const std::string& text);
  void put(const FatbinEntry& entry, std::uint64_t& at);
  void spill();

  const std::size_t most_;
  std::optional<TemporaryFile> file_;
  std::uint64_t spilled_ = 0;  // bytes in it; the rest follows in `memory_`
  bool stays_ = false;         // in memory
  Bytes memory_;
  std::string section_;  // of the last fat binary of this run, and where it begins
  std::uint64_t section_offset_ = 0;
};

}  // namespace archguard::fatbin
