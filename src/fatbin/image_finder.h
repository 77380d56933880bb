#pragma once

#include <cstdint>
#include <optional>

#include "fatbin/fatbin.h"
#include "io/window.h"

namespace archguard::fatbin {

// Reads images that stand in a host file as data, outside of any fat binary: a program hands them to the
// driver itself (bin2c, `.incbin`, CMake's CUDA_PTX_COMPILATION). Each is a fat binary of one entry, bare.
// Error::where is the offset within the object, in hex.
class ImageFinder {
 public:
  explicit ImageFinder(const ByteSource& source);

  // The cubin whose ELF header stands at `at`; nothing where that is chance, or another machine's. All of it
  // must stand before `end`, else it is an error.
  Result<std::optional<Fatbin>> cubin_at(std::uint64_t at, std::uint64_t end);

  // The LTO-IR or OptiX-IR whose head stands at `at` (nvvm_image.h).
  std::optional<Fatbin> nvvm_at(std::uint64_t at, std::uint64_t end);

  // The bytecode of CUDA Tile whose magic stands at `at`; nothing where that is a program's word for it.
  std::optional<Fatbin> tile_ir_at(std::uint64_t at, std::uint64_t end);

  // The PTX whose `.version` stands at `at`, with the comments above it, but not before `begin`. Nothing
  // where it is no module: a template of one (`.version %s`), a word of a message, a part of a text. One
  // whose end cannot be found is unknown.
  struct Ptx {
    std::optional<Fatbin> fatbin;
    std::optional<Error> damage;
    std::uint64_t next;  // nothing else begins before it
  };
  Ptx ptx_at(std::uint64_t begin, std::uint64_t at, std::uint64_t end);

 private:
  bool follows_byte_order_mark(std::uint64_t begin, std::uint64_t module);
  bool is_hole(bool begun, std::uint64_t start, std::uint64_t at, std::uint64_t end);
  Fatbin place(Fatbin fatbin, std::uint64_t at);
  bool is_payload(std::uint64_t at, std::uint64_t size);
  bool is_head(std::uint64_t at, std::uint64_t end);
  enum class Before { nothing, text, quote, marker, comment };
  Before stands_before(std::uint64_t begin, std::uint64_t at, std::uint64_t& start);

  const ByteSource& source_;
  Window in_;
  Window text_;  // short texts that stand close together cost one read
};

}  // namespace archguard::fatbin
