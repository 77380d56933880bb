#include <algorithm>
#include <string_view>

#include "fatbin/saved_image_visitor.h"
#include "targets.h"

namespace archguard::fuzz {
namespace {

constexpr std::size_t kBlock = 512, kSizeAt = 124, kSumAt = 148, kSumSize = 8, kMagicAt = 257;
constexpr std::string_view kMagic = "ustar";

// Gives each header of a tar archive, and of those in it, the checksum that it must have: so that a changed name, size or kind is read.
void put_checksums(std::uint8_t* tar, std::size_t size) {
  for (std::size_t at = 0; at + kBlock <= size && tar[at] != 0;) {
    std::uint8_t* header = tar + at;
    std::fill_n(header + kSumAt, kSumSize, static_cast<std::uint8_t>(' '));
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += header[i];
    for (std::size_t i = 6; i-- > 0; sum /= 8) header[kSumAt + i] = static_cast<std::uint8_t>('0' + sum % 8);
    header[kSumAt + 6] = 0;
    std::size_t length = 0;
    for (std::size_t i = 0; i < 11; ++i)
      if (header[kSizeAt + i] >= '0' && header[kSizeAt + i] <= '7')
        length = length * 8 + (header[kSizeAt + i] - std::size_t{'0'});
    at += kBlock;
    if (length > size - at) return;
    if (length > kBlock && std::equal(kMagic.begin(), kMagic.end(), tar + at + kMagicAt)) put_checksums(tar + at, length);
    at += (length + kBlock - 1) / kBlock * kBlock;
  }
}

}  // namespace

// Whatever the documents and layers are: the image is handed over or refused, whole or with an error.
void saved_image(ByteView bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 20;
  Bytes tar(bytes.data, bytes.data + bytes.size);
  put_checksums(tar.data(), tar.size());
  const MemorySource source(tar);
  const std::string path = "f";
  std::size_t visits = 0;
  const VisitDeviceCode visit = [&](const DeviceCode& code, const ByteSource&) {
    ++visits;
    promise(std::all_of(code.errors.begin(), code.errors.end(),
                        [](const Error& error) { return !error.what.empty() && !error.where.empty(); }));
  };
  fatbin::Contents contents(path, visit, Keep::all, kMost);
  const bool is_image = fatbin::SavedImageVisitor(fatbin::SavedImageArchive(source), contents).read();
  promise(contents.inflated <= contents.inflated_most);
  promise(is_image || visits == 0);
  if (is_image) contents.finish(false);
}

}  // namespace archguard::fuzz
