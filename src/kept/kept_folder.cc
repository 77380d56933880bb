#include "kept/kept_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/write_file.h"

namespace archguard {
namespace {

// A record is this line, the hash of what follows it in 16 digits, a line end, and what was kept.
constexpr std::string_view kFormat = "archguard.kept/2\n";
constexpr std::size_t kHashDigits = 16, kKeptHead = kFormat.size() + kHashDigits + 1;
constexpr std::string_view kEnding = ".verdict", kUnfinished = ".part";
constexpr char kTurns[] = "turns";  // nothing is in it: a byte of it is locked for each turn
constexpr std::time_t kDay = 24 * 60 * 60, kHour = 60 * 60;

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  bool ok() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

bool is_own(const struct stat& about) {
  return about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Whatever `path` is by now, what was opened is what is looked at.
int open_own(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about {};
  if (!folder.ok() || ::fstat(folder.get(), &about) != 0 || !is_own(about)) return -1;
  return folder.release();
}

// With the folders above it that are not there yet.
int make_own(const std::string& path) {
  const int there = open_own(path);
  if (there >= 0) return there;
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
    if (end == std::string::npos) break;
  }
  return open_own(path);
}

std::string name_of_key(std::uint64_t key) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(key));
  return name;
}

std::string head_of(std::string_view content) {
  return std::string(kFormat) + name_of_key(hash_of(content)) + "\n";
}

std::optional<std::string> read_all(int file, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t count = ::pread(file, text.data() + at, size - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    at += static_cast<std::size_t>(count);
  }
  return text;
}

#ifdef F_OFD_SETLK
// A lock of the open file: it goes with the process, and no other file's lock is meant.
int lock_byte(int file, std::uint64_t key, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(key >> 2);  // off_t has a sign, and a lock an end
  lock.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}
#else
int lock_byte(int, std::uint64_t, short) {
  return ENOSYS;
}
#endif

}  // namespace

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return hash;
}

KeptTurn::KeptTurn(KeptTurn&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), key_(other.key_) {}

KeptTurn& KeptTurn::operator=(KeptTurn&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(key_, other.key_);
  return *this;
}

KeptTurn::~KeptTurn() {
  if (descriptor_ < 0) return;
  lock_byte(descriptor_, key_, F_UNLCK);  // a child process may have the file open still
  ::close(descriptor_);
}

std::optional<std::string> KeptFolder::read(std::uint64_t key) const {
  const Descriptor folder(open_own(path_));
  if (!folder.ok()) return std::nullopt;
  const std::string name = name_of_key(key) + std::string(kEnding);
  const Descriptor file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!file.ok() || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || !is_own(about) ||
      about.st_size < static_cast<off_t>(kKeptHead) ||
      about.st_size > static_cast<off_t>(kKeptHead + limits_.record_most))
    return std::nullopt;
  auto text = read_all(file.get(), static_cast<std::size_t>(about.st_size));
  if (!text) return std::nullopt;
  const std::string_view content = std::string_view(*text).substr(kKeptHead);
  if (text->compare(0, kKeptHead, head_of(content)) != 0) return std::nullopt;
  if (about.st_mtime < std::time(nullptr) - kDay) ::futimens(file.get(), nullptr);  // it is of use: it stays
  return std::string(content);
}

void KeptFolder::write(std::uint64_t key, const std::string& content) const {
  if (content.size() > limits_.record_most) return;
  const Descriptor folder(make_own(path_));
  if (!folder.ok()) return;
  const std::string name = name_of_key(key) + std::string(kEnding);
  struct stat about {};
  if (::fstatat(folder.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(about.st_mode))
    return;
  if (write_file(path_ + "/" + name, head_of(content) + content, 0600)) remove_oldest(folder.get(), name);
}

// Also what a process left behind that was killed while it wrote.
void KeptFolder::remove_oldest(int folder, const std::string& spared) const {
  struct Record {
    std::int64_t seconds, nanoseconds;
    std::uint64_t size;
    std::string name;
  };
  DIR* names = ::fdopendir(::dup(folder));
  if (names == nullptr) return;
  std::vector<Record> records;
  std::uint64_t bytes = 0;
  while (const dirent* entry = ::readdir(names)) {
    const std::string name = entry->d_name;
    const bool unfinished = ends_with(name, kUnfinished);
    struct stat about {};
    if ((!unfinished && !ends_with(name, kEnding)) ||
        ::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (unfinished) {
      if (about.st_mtime < std::time(nullptr) - kHour) ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    bytes += static_cast<std::uint64_t>(about.st_size);
    records.push_back(
        {about.st_mtim.tv_sec, about.st_mtim.tv_nsec, static_cast<std::uint64_t>(about.st_size), name});
  }
  ::closedir(names);
  if (records.size() <= limits_.records_most && bytes <= limits_.bytes_most) return;
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::pair(a.seconds, a.nanoseconds) < std::pair(b.seconds, b.nanoseconds);
  });
  std::size_t left = records.size();
  for (const Record& record : records) {
    if (left <= limits_.records_most && bytes <= limits_.bytes_most) return;
    if (record.name == spared) continue;
    ::unlinkat(folder, record.name.c_str(), 0);
    bytes -= record.size;
    --left;
  }
}

std::optional<KeptTurn> KeptFolder::turn(std::uint64_t key, std::chrono::milliseconds patience) const {
  const Descriptor folder(make_own(path_));
  if (!folder.ok()) return KeptTurn();
  Descriptor file(
      ::openat(folder.get(), kTurns, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file.ok()) return KeptTurn();
  const auto end = std::chrono::steady_clock::now() + patience;
  for (std::chrono::milliseconds pause{2};; pause = std::min(pause * 2, std::chrono::milliseconds(50))) {
    const int reason = lock_byte(file.get(), key, F_WRLCK);
    if (reason == 0) return KeptTurn(file.release(), key);
    if (reason != EAGAIN && reason != EACCES && reason != EINTR) return KeptTurn();
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace archguard
