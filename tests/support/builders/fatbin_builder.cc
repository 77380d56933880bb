#include "fatbin_builder.h"

#include <cstdlib>
#include <lz4.h>
#include <zstd.h>

namespace archguard::test {
namespace {

constexpr std::size_t kFixedFields = 64;

std::size_t padded(std::size_t size) {
  return (size + 7) / 8 * 8;
}

}  // namespace

Bytes raw_ltoir(std::string_view arch, std::size_t enciphered) {
  const auto number = static_cast<unsigned>(std::atoi(std::string(arch).c_str()));
  ByteWriter writer;
  writer.u32(0x7f4e43ed).u32(0x62024101).u32(0x00070203).u16(24).u16(1).u32(40).u32(44);
  writer.u16(1).u16(number * 10).u32(0x20002).u32(99).u32(0).u32(0);
  return writer.append(filler(enciphered)).bytes();
}

FatbinBuilder& FatbinBuilder::image(unsigned kind, std::string_view arch, Bytes image) {
  Image added;
  added.kind = kind;
  added.arch = static_cast<unsigned>(std::atoi(std::string(arch).c_str()));
  if (!arch.empty() && arch.back() == 'a') added.flags |= 0x100000;
  if (!arch.empty() && arch.back() == 'f') added.flags |= 0x200000;
  added.stored = std::move(image);
  images_.push_back(std::move(added));
  return *this;
}

FatbinBuilder& FatbinBuilder::cubin(std::string_view arch, Bytes bytes) {
  return image(2, arch, std::move(bytes)).code_version(1, 8);
}

FatbinBuilder& FatbinBuilder::ptx(std::string_view arch, std::string_view isa, std::string_view text) {
  const auto dot = isa.find('.');
  return image(1, arch, bytes_of_text(text))
      .code_version(static_cast<unsigned>(std::atoi(std::string(isa).c_str())),
                    static_cast<unsigned>(std::atoi(std::string(isa.substr(dot + 1)).c_str())));
}

FatbinBuilder& FatbinBuilder::ltoir(std::string_view arch, Bytes bytes) {
  return image(8, arch, std::move(bytes)).code_version(1, 61);
}

FatbinBuilder& FatbinBuilder::lz4() {
  Image& image = last();
  Bytes packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(image.stored.size()))));
  const int size = LZ4_compress_default(
      reinterpret_cast<const char*>(image.stored.data()), reinterpret_cast<char*>(packed.data()),
      static_cast<int>(image.stored.size()), static_cast<int>(packed.size()));
  packed.resize(static_cast<std::size_t>(size));
  image.uncompressed = image.stored.size();
  image.compressed = static_cast<std::uint32_t>(packed.size());
  image.flags |= 0x2000;
  image.stored = std::move(packed);
  return *this;
}

FatbinBuilder& FatbinBuilder::zstd() {
  Image& image = last();
  Bytes packed(ZSTD_compressBound(image.stored.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), image.stored.data(), image.stored.size(), 3));
  image.uncompressed = image.stored.size();
  image.compressed = static_cast<std::uint32_t>(packed.size());
  image.flags |= 0x8000;
  image.stored = std::move(packed);
  return *this;
}

FatbinBuilder& FatbinBuilder::obfuscated() {
  return flags(0x10000);
}

FatbinBuilder& FatbinBuilder::flags(std::uint64_t more) {
  last().flags |= more;
  return *this;
}

FatbinBuilder& FatbinBuilder::identifier(std::string_view name) {
  last().identifier = name;
  return *this;
}

FatbinBuilder& FatbinBuilder::options(std::string_view line) {
  last().options = line;
  return *this;
}

FatbinBuilder& FatbinBuilder::code_version(unsigned major, unsigned minor) {
  last().major = major;
  last().minor = minor;
  return *this;
}

FatbinBuilder& FatbinBuilder::entry_version(unsigned version) {
  last().version = version;
  return *this;
}

FatbinBuilder& FatbinBuilder::uncompressed_size(std::uint64_t claimed) {
  last().uncompressed = claimed;
  return *this;
}

FatbinBuilder& FatbinBuilder::compressed_size(std::uint32_t claimed) {
  last().compressed = claimed;
  return *this;
}

Bytes FatbinBuilder::bytes() const {
  ByteWriter entries;
  for (const Image& image : images_) {
    const std::size_t name = image.identifier.size();
    const std::size_t descriptor =
        kFixedFields + padded(name);  // offset and length of the options, then they
    const std::size_t header = descriptor + (image.options ? 8 + padded(image.options->size() + 1) : 0);
    entries.u16(image.kind).u16(image.version).u32(header).u64(padded(image.stored.size()));
    entries.u32(image.compressed).u32(image.options ? descriptor : 0).u16(image.minor).u16(image.major);
    entries.u32(image.arch);
    entries.u32(name == 0 ? 0 : kFixedFields).u32(name).u64(image.flags).u64(0).u64(image.uncompressed);
    entries.text(image.identifier).align(8);
    if (image.options)
      entries.u32(descriptor + 8).u32(image.options->size()).text(*image.options).zeros(1).align(8);
    entries.append(image.stored).align(8);
  }
  ByteWriter fatbin;
  fatbin.u32(0xBA55ED50).u16(1).u16(16).u64(entries.size()).append(entries.bytes());
  return fatbin.bytes();
}

}  // namespace archguard::test
