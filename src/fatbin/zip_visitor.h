#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/parallel.h"
#include "fatbin/contents.h"
#include "fatbin/fatbin.h"
#include "fatbin/zip_links.h"
#include "host/zip.h"

namespace archguard::fatbin {

// How much of a zip file is read at once.
struct ZipLimits {
  unsigned threads = threads_to_use();
  // What may lie on the disk at once of one zip file, inflated and waiting for its turn; a larger member lies
  // there alone. Never more than half of the room that the folder for temporary files has.
  std::uint64_t on_disk = std::uint64_t{2} << 30;
};

// Hands over the files in a zip file, in the order of its directory, and reads several of them at once.
// Beside the member whose turn it is, 16 may be inflated already: each holds at most 4.25 MiB of memory and
// what is listed of its device code; the larger ones lie in temporary files (ZipLimits). Of a zip file within
// a zip file the same holds once more, while the outer one begins no further member; four levels are read.
// All members together may inflate to as much as one member of the whole file's size could; of a file that
// means to inflate to more, at most as much again is inflated in vain.
class ZipVisitor {
 public:
  // All of these outlive it. `size` is the whole file's.
  ZipVisitor(const std::string& path, std::uint64_t size, const VisitDeviceCode& visit,
             const MembersRead& progress, Keep keep = Keep::all, const ZipLimits& limits = {});

  void read(const ByteSource& zip) { read(zip, {}, 1, nullptr); }

  // After read(). `beside`: what the zip file stands behind was read.
  void finish(bool beside = false) { in_.finish(beside); }

  // Of a zip file within another file, whose reader finishes. `contents` outlives it.
  explicit ZipVisitor(Contents& contents);
  void read_within(const ByteSource& zip, const std::string& outer, std::size_t depth) {
    read(zip, outer, depth, nullptr);
  }

 private:
  // A member as far as it can be read before its turn.
  struct Opened {
    bool tried = false;
    std::optional<UnreadKind> unread;
    std::optional<std::string> link_to;
    std::optional<Error> error;
    std::unique_ptr<ByteSource> bytes;  // of a zip file or a binary; else null
    std::optional<DeviceCode> code;     // nothing for a zip file
  };
  using Ahead = InOrder<std::vector<Opened>>;
  struct Members;  // some of a zip file, that are read at once

  void read(const ByteSource& zip, const std::string& outer, std::size_t depth, Ahead* of_outer);
  void read(Members& members);
  Opened open(const Members& members, const ZipMember& member) const;
  void take(Members& members, const ZipMember& member, Opened opened, Ahead* ahead);
  void add_broken_links(const Members& members);
  void read_conda_files(const Members& members, const ZipMember& member);

  const std::unique_ptr<Contents> own_;
  Contents& in_;
  const MembersRead progress_;
  const ZipLimits limits_;
  std::uint64_t members_ = 0, taken_ = 0;  // of the outermost zip file
  // A member was inflated ahead that may not be: from here on, each waits for its turn.
  std::atomic<bool> careful_{false};
  bool lacks_libarchive_ = false;  // and that was told
};

}  // namespace archguard::fatbin
