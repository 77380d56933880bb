#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/contents.h"
#include "fatbin/fatbin.h"
#include "fatbin/zip_links.h"
#include "host/archive_stream.h"

namespace archguard::fatbin {

// What is said of an archive below kDepthMost others.
Error too_deep();

// Is the file, by its first bytes, an archive or a package that ArchiveVisitor reads?
bool may_be_archive_file(ByteView start);

// What all members of such a file may inflate to: 1032 times its size, as of a zip file, and 256 MiB at
// least, since other formats make less of zeros than zip does.
std::uint64_t most_inflated_of_archive(std::uint64_t size);

// Hands over the files in archives and packages: tar and cpio archives, packed or not, and those in a Debian
// or RPM package. They have no directory, so members come one after the other. Each is kept while it is read,
// up to 4 MiB in memory and beyond in a temporary file; a packed tar archive within is read without that. A
// compressed file, such as a manual page, is read as what it holds.
class ArchiveVisitor {
 public:
  // `contents` outlives it.
  explicit ArchiveVisitor(Contents& contents) : in_(contents) {}

  // False where it only looked like an archive: then nothing was handed over.
  // `outer`: its name as a member of another file, else empty.
  bool read_file(const ByteSource& source, const std::string& outer, std::size_t depth);

  // The archive `name` of a package that is `outer`: its members are called by the names that they get.
  void read_package(ByteStream& stream, const std::string& name, const std::string& outer, std::size_t depth);

  // A layer of a container image, of whose members those are read that `stays` says so of, asked of each in
  // its turn.
  void read_layer(ByteStream& stream, const std::string& name,
                  const std::function<bool(const StreamMember&)>& stays);

 private:
  struct Archive;

  // `named`: what it is called where it is damaged. `own`: its name by itself; null: a compressed file that
  // is no archive is not read.
  bool read(ByteStream& stream, const std::string& outer, std::size_t depth, const std::string& named,
            const std::string* own);
  Result<StreamKind> visit(ByteStream& stream, const VisitStreamMember& visit,
                           const VisitCompressed& visit_compressed = {});
  void take(Archive& archive, const StreamMember& member, ByteStream& bytes);
  void read_member(Archive& archive, const StreamMember& member, ByteStream& bytes);
  void read_compressed(ByteStream& bytes, const std::string& name, const std::string& own, std::size_t depth);
  void read_within(const ByteSource& bytes, const MemberStart& start, const std::string& name,
                   std::size_t depth);
  void add_broken_links(const Archive& archive);
  bool read_debian(const ByteSource& package, const std::string& outer, std::size_t depth);
  bool read_rpm(const ByteSource& package, const std::string& outer, std::size_t depth);

  Contents& in_;
};

}  // namespace archguard::fatbin
