#include "container/archive.h"

#include "targets.h"

namespace archguard::fuzz {

void archive(ByteView bytes) {
  if (!has_archive_magic(bytes)) return;
  std::uint64_t end = 0;
  const Status status = visit_archive(MemorySource(bytes), [&](const ArchiveMember& member) {
    promise(inside(member.offset, member.size, bytes.size));
    promise(member.offset >= end);
    end = member.offset + member.size;
  });
  promise(status.ok() || !status.error().what.empty());
}

}  // namespace archguard::fuzz
