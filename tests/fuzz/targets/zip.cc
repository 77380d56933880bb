#include "host/zip.h"

#include "targets.h"

namespace archguard::fuzz {

void zip(ByteView bytes) {
  const MemorySource source(bytes);
  if (!is_zip(source)) return;
  const Status status = visit_zip(source, [&](const ZipMember& member) {
    if (member.size > (std::uint64_t{1} << 20))
      return;  // large ones go to a file; what inflates them is the same
    const auto opened = open_zip_member(source, member, [](ByteView start) { return start.size % 2 == 0; });
    promise(!opened || *opened == nullptr || (*opened)->size() == member.size);
  });
  promise(status.ok() || !status.error().what.empty());
}

}  // namespace archguard::fuzz
