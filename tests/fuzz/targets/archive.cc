#include "host/archive.h"

#include "targets.h"

namespace archguard::fuzz {

void archive(ByteView bytes) {
  if (!has_archive_magic(bytes)) return;
  std::uint64_t end = 0;
  // Thin archives name files: every one holds these same bytes.
  const auto open = [&](const std::string&) -> Result<std::shared_ptr<const ByteSource>> {
    return std::shared_ptr<const ByteSource>(std::make_shared<MemorySource>(bytes));
  };
  const auto visit = [&](const ArchiveMember& member) {
    promise(inside(member.offset, member.size, bytes.size));
    if (member.elsewhere) return;
    promise(member.offset >= end);
    end = member.offset + member.size;
  };
  const auto failed = [](const std::string&, Error error) { promise(!error.what.empty()); };
  const Status status = visit_archive(MemorySource(bytes), open, visit, failed);
  promise(status.ok() || !status.error().what.empty());
}

}  // namespace archguard::fuzz
