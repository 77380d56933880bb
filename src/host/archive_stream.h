#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.h"
#include "host/byte_stream.h"
#include "host/unpacked_stream.h"

namespace archguard {

// What stands in a tar or cpio archive. Names are as the archive has them, but for a "./" in front: nothing
// is written to them.
struct StreamMember {
  enum class Kind { file, link, other };  // other: folders, devices, further names of files that are there
  std::string name;
  Kind kind = Kind::other;
  std::uint64_t size = 0;
  std::string target;   // of a link, also the file that a further name is of
  bool folder = false;  // of the kind `other`
  bool later = false;   // cpio: its bytes stand under the last of its names
};

// May the file be an archive that is read from its beginning to its end: a tar or cpio archive, packed or
// not? From its first bytes, 4 KiB or all of a smaller one; what is packed may turn out to hold none.
bool may_be_archive_stream(ByteView start);

// Of a tar archive of `size` bytes: may so many zeros behind its end be there to fill its last record up?
bool fills_tar_record(std::uint64_t size, std::uint64_t zeros);
// Is it the end of a tar archive alone, and what fills its record up: zeros?
bool is_tar_of_nothing(const ByteSource& source);

// Do headers of a tar or cpio archive stand anywhere in the bytes, as in one whose beginning is damaged?
bool holds_archive_headers(const ByteSource& source);

// False ends the reading there, without a look at the rest.
using VisitStreamMember = std::function<bool(const StreamMember&, ByteStream& bytes)>;

// What visit_archive_stream() found. `compressed`: one file, as `gzip FILE` makes it.
enum class StreamKind { archive, compressed, other };

// Given what a compressed file holds, which is no archive; it reads it whole, or its checksum is not
// compared.
using VisitCompressed = std::function<void(ByteStream& bytes)>;

// Calls `visit` for each member in the archive's order, until the first damage, which is the error: so is an
// archive without its end, and bytes behind it. `visit` reads of the bytes what it needs. Packed or not, and
// read or not, the whole stream is read and its checksums are compared. `other` where no archive came out of
// it, nor a compressed file where these are asked for; then nothing was visited.
Result<StreamKind> visit_archive_stream(ByteStream& stream, const Spend& spend,
                                        const VisitStreamMember& visit,
                                        const VisitCompressed& visit_compressed = {});

// Where the cpio archive of an RPM package begins, behind its lead and both headers.
bool is_rpm(ByteView start);
Result<std::uint64_t> payload_of_rpm(const ByteSource& package);

}  // namespace archguard
