#include <algorithm>

#include "fatbin/archive_visitor.h"
#include "targets.h"

namespace archguard::fuzz {

// Whatever the archive is: it is handed over or refused, and no more comes out of it than is allowed.
void archive_stream(ByteView bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 20;
  const MemorySource source(bytes);
  const std::string path = "f";
  std::size_t visits = 0;
  const VisitDeviceCode visit = [&](const DeviceCode& code, const ByteSource&) {
    ++visits;
    promise(std::all_of(code.errors.begin(), code.errors.end(),
                        [](const Error& error) { return !error.what.empty() && !error.where.empty(); }));
  };
  fatbin::Contents contents(path, visit, Keep::all, kMost);
  const bool is_archive = fatbin::ArchiveVisitor(contents).read_file(source, {}, 1);
  promise(contents.inflated <= contents.inflated_most);
  if (is_archive) contents.finish(false);
  promise(is_archive == (visits != 0));
}

}  // namespace archguard::fuzz
