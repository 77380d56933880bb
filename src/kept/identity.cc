#include "kept/identity.h"

#include <cstdlib>
#include <ctime>
#include <sys/stat.h>
#include <tuple>

#include "base/write_file.h"

namespace archguard {
namespace {

constexpr std::int64_t kSecond = 1000000000, kCoarsest = 2 * kSecond;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

}  // namespace

bool operator==(const FileIdentity& a, const FileIdentity& b) {
  const auto compared = [](const FileIdentity& each) {
    return std::tie(each.real_path, each.device, each.inode, each.size, each.modified, each.changed);
  };
  return compared(a) == compared(b);
}

bool operator!=(const FileIdentity& a, const FileIdentity& b) {
  return !(a == b);
}

std::optional<FileIdentity> bare_identity_of(const std::string& path) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // before the file is looked at: then it is the earlier of the two
  struct stat about {};
  if (path.find('\0') != std::string::npos || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
    return std::nullopt;
  FileIdentity identity;
  identity.device = about.st_dev;
  identity.inode = about.st_ino;
  identity.size = static_cast<std::uint64_t>(about.st_size);
  identity.modified = nanoseconds(about.st_mtim);
  identity.changed = nanoseconds(about.st_ctim);
  identity.taken = nanoseconds(now);
  return identity;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  auto identity = bare_identity_of(path);
  if (identity) identity->real_path = real_path(path);
  return identity;
}

bool is_settled(const FileIdentity& identity) {
  // Anybody can set a modification to come; a change to come is that of another machine's clock.
  const bool modified_now =
      identity.modified > identity.taken - kCoarsest && identity.modified <= identity.taken;
  return identity.changed <= identity.taken - kCoarsest && !modified_now;
}

}  // namespace archguard
