#include "base/bytes.h"
#include "fatbin/region_reader.h"
#include "targets.h"

namespace archguard::fuzz {

// Bytes that no section of device code holds: fat binaries by signature, and images among data. What is found
// stands one behind the other, and nothing more behind the last.
void finder(ByteView bytes) {
  const MemorySource source(bytes);
  const std::vector<const Section*> sections;
  const fatbin::Region region{0, bytes.size, {}, 0, false};
  constexpr std::size_t kEntriesMost = std::size_t{1} << 15;
  fatbin::RegionReader reader(source, sections, kEntriesMost);
  const fatbin::Found found = reader.search(region, 0, bytes.size);
  std::uint64_t end = 0;
  for (const Fatbin& fatbin : found.fatbins) {
    promise(fatbin.offset >= end && inside(fatbin.offset, fatbin.size, bytes.size));
    end = fatbin.offset + fatbin.size;
  }
  fatbin::Region rest = region;
  rest.begin = end;
  const fatbin::Found again = reader.search(rest, end, bytes.size);
  promise(found.cut || again.fatbins.empty());
}

}  // namespace archguard::fuzz
