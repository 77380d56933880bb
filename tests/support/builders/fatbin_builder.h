#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "byte_writer.h"

namespace archguard::test {

// LTO-IR as it is where it is not compressed: its head, and so many bytes that stand for what is enciphered.
Bytes raw_ltoir(std::string_view arch, std::size_t enciphered = 500);

// One fat binary:
//   FatbinBuilder{}.cubin(80, image).ptx("90a", "8.7", text).zstd().bytes()
// A word after an image changes that image. An arch is "80", "90a" or "100f".
class FatbinBuilder {
 public:
  FatbinBuilder& cubin(std::string_view arch, Bytes image);
  FatbinBuilder& cubin(int arch, Bytes image) { return cubin(std::to_string(arch), std::move(image)); }
  FatbinBuilder& ptx(std::string_view arch, std::string_view isa, std::string_view text);
  FatbinBuilder& ltoir(std::string_view arch, Bytes image);
  FatbinBuilder& ltoir(std::string_view arch) { return ltoir(arch, raw_ltoir(arch)); }
  FatbinBuilder& image(unsigned kind, std::string_view arch, Bytes image);

  FatbinBuilder& lz4();
  FatbinBuilder& zstd();
  FatbinBuilder& obfuscated();
  FatbinBuilder& flags(std::uint64_t more);
  FatbinBuilder& identifier(std::string_view name);  // as -lineinfo leaves it
  FatbinBuilder& options(std::string_view line);     // as every PTX entry of nvcc and nvFatbin has it
  FatbinBuilder& code_version(unsigned major, unsigned minor);
  FatbinBuilder& entry_version(unsigned version);
  FatbinBuilder& uncompressed_size(std::uint64_t claimed);  // a lie
  FatbinBuilder& compressed_size(std::uint32_t claimed);    // a lie

  Bytes bytes() const;

 private:
  struct Image {
    unsigned kind = 0;
    unsigned arch = 0;
    unsigned version = 0x0101;
    unsigned major = 0;
    unsigned minor = 0;
    std::uint64_t flags = 0x11;  // 64-bit, Linux
    std::uint32_t compressed = 0;
    std::uint64_t uncompressed = 0;
    std::string identifier;
    std::optional<std::string> options;
    Bytes stored;
  };
  Image& last() { return images_.back(); }
  std::vector<Image> images_;
};

}  // namespace archguard::test
