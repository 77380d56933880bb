#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace archguard {

// Which file a path leads to, and in which state. Whoever changes a file in any way changes this: its content
// cannot be replaced without a new inode or a new time of change, which nobody can set back.
struct FileIdentity {
  std::string real_path;  // all symbolic links resolved
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // st_mtim and st_ctim, in ns since 1970
  std::int64_t taken = 0;                  // when this was looked up, likewise; not compared
};
bool operator==(const FileIdentity& a, const FileIdentity& b);
bool operator!=(const FileIdentity& a, const FileIdentity& b);

// Nothing for what is not there, cannot be reached or is no regular file.
std::optional<FileIdentity> identity_of(const std::string& path);

// The same without the real path, for who asks after thousands: who only wants to know whether a path leads
// to another file, or the file was changed.
std::optional<FileIdentity> bare_identity_of(const std::string& path);

// Was the file left alone for long enough before `taken`? Times of change are as coarse as 2 s (FAT): what is
// written again soon after may keep the identity.
bool is_settled(const FileIdentity& identity);

}  // namespace archguard
