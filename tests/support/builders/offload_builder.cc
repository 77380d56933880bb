#include "offload_builder.h"

namespace archguard::test {

OffloadBuilder& OffloadBuilder::image(Kind kind, std::string_view arch, const Bytes& bytes,
                                      std::string_view triple) {
  constexpr std::size_t kStrings = 32 + 40, kText = kStrings + 2 * 16;
  ByteWriter text;
  text.text("arch").u8(0).text("triple").u8(0).text(triple).u8(0).text(arch).u8(0);
  const std::size_t triple_at = kText + 12, arch_at = triple_at + triple.size() + 1;
  const std::size_t image_at = (kText + text.size() + 7) / 8 * 8;
  const std::size_t size = (image_at + bytes.size() + 7) / 8 * 8;
  all_.u32(0xad10ff10).u32(1).u64(size).u64(32).u64(40);
  all_.u16(kind).u16(producer_).u32(0).u64(kStrings).u64(2).u64(image_at).u64(bytes.size());
  all_.u64(kText).u64(arch_at).u64(kText + 5).u64(triple_at);
  all_.append(text.bytes()).align(8).append(bytes).align(8);
  return *this;
}

}  // namespace archguard::test
