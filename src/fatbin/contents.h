#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"

namespace archguard::fatbin {

constexpr std::size_t kDepthMost = 4;  // of files within files

// What is known of the files in a file while they are read, by one reader or by several within each other.
struct Contents {
  // All of these outlive it. `inflated_most`: what all members together may inflate to.
  Contents(const std::string& file, const VisitDeviceCode& visitor, Keep kept, std::uint64_t most)
      : path(file), visit(visitor), keep(kept), inflated_most(most) {}

  void add_error(const std::string& member, Error error);
  void pass_over(const std::string& member, UnreadKind kind);
  // False where that is too much.
  bool spend(std::uint64_t bytes);
  // After the last one was read. `beside`: what the file stands behind was read.
  void finish(bool beside);

  const std::string& path;
  const VisitDeviceCode& visit;
  const Keep keep;
  std::uint64_t inflated_most, inflated = 0;
  DeviceCode rest;  // of no member: what could not be read
  bool any = false;
  std::vector<std::string> packed;  // members that are; the others that are passed over are in `rest`
  bool is_package =
      false;  // whose files nobody reads: as of a compressed file, in a folder it is passed over
};

// What the first bytes of a member tell, 4 KiB or all of a smaller one.
struct MemberStart {
  MemberStart() = default;
  MemberStart(const std::string& name, ByteView start, std::uint64_t size);
  bool wanted() const { return may_be_read || searched || lost; }

  bool may_be_read = false;  // as a host file or a zip file
  bool searched = false, lost = false;
  bool zeros_of_tar = false;         // named so: it may be an archive of nothing, which is not lost
  std::optional<UnreadKind> unread;  // of one that is not wanted
};

// Of a member that is no zip file. `name`: with what it is within; nothing where it holds no code.
std::optional<DeviceCode> code_of_member(const ByteSource& bytes, const MemberStart& start,
                                         const std::string& path, const std::string& name, Keep keep);

}  // namespace archguard::fatbin
