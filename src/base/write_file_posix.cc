#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/held_signals.h"
#include "base/text.h"
#include "base/write_file.h"

namespace archguard {
namespace {

bool write_to_descriptor(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

class DescriptorSink : public TextSink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}
  int reason() const { return reason_; }  // errno of the first write that failed, or 0

 private:
  void pass_on(std::string_view text) override {
    if (reason_ == 0 && !write_to_descriptor(descriptor_, text)) reason_ = errno;
  }

  int descriptor_, reason_ = 0;
};

// False with errno.
bool write_to_descriptor(int descriptor, const TextSource& text) {
  DescriptorSink sink(descriptor);
  text.write_to(sink);
  sink.flush();
  errno = sink.reason();
  return errno == 0;
}

Error not_written(const std::string& path, int reason) {
  return {path, "cannot be written: " + to_lower(strerror(reason)), {}};
}

// A device, a pipe, or what this process has open already: nothing may take its place.
bool is_written_in_place(const std::string& path, const struct stat* about) {
  return starts_with(path, "/dev/std") || starts_with(path, "/dev/fd/") ||
         (about != nullptr && !S_ISREG(about->st_mode) && !S_ISDIR(about->st_mode));
}

Status write_in_place(const std::string& path, const TextSource& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return not_written(path, errno);
  const int reason = write_to_descriptor(descriptor, text) ? 0 : errno;
  if (close(descriptor) == 0 && reason == 0) return Done{};
  return not_written(path, reason != 0 ? reason : errno);
}

constexpr int kLinksMost = 40;  // as many as Linux follows
constexpr int kNamesTried = 100;

std::string read_link(const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

// In a folder where everybody may make files (/tmp), a link or pipe of another user's leads where that user
// likes: Linux's fs.protected_symlinks and fs.protected_fifos say the same, where they are on.
bool is_anothers_in_shared_folder(const std::string& path, const struct stat& about) {
  struct stat folder {};
  if (stat(folder_of(path).c_str(), &folder) != 0) return false;
  const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & (S_IWOTH | S_IWGRP)) != 0;
  return shared && about.st_uid != geteuid() && about.st_uid != folder.st_uid;
}

// Where links lead, one after the other: a link stays, and what it points to is replaced.
Result<std::string> place_to_write(const std::string& path) {
  if (is_written_in_place(path, nullptr)) return path;
  std::string place = path;
  for (int links = 0;; ++links) {
    struct stat about {};
    if (lstat(place.c_str(), &about) != 0 || S_ISREG(about.st_mode)) return place;
    if (!S_ISDIR(about.st_mode) && is_anothers_in_shared_folder(place, about))
      return Error{path, "is not written: " + place + " is another user's, in a folder that all users share",
                   "name a file in a folder of your own"};
    if (!S_ISLNK(about.st_mode)) return place;
    const std::string target = read_link(place);
    if (target.empty() || links == kLinksMost) return not_written(path, ELOOP);
    place = starts_with(target, "/") ? target : folder_of(place) + "/" + target;
  }
}

// A name that nobody can guess, so that nobody is there before.
std::string random_digits() {
  std::uint64_t number = static_cast<std::uint64_t>(getpid()) << 32U;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  number ^= static_cast<std::uint64_t>(now.tv_nsec) * 0x9e3779b97f4a7c15U;
  std::uint64_t random = 0;
  const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (source >= 0 && read(source, &random, sizeof random) == sizeof random) number ^= random;
  if (source >= 0) close(source);
  return hex(number).substr(2);
}

// A new file in the same folder, never one that is there, nor what a link there points to; -1 with errno.
int create_beside(const std::string& place, mode_t mode, std::string& beside) {
  constexpr std::size_t kNameMost = 200;  // of the 255 bytes that a name may have
  const auto name_at = place.rfind('/') + 1;
  const std::string start = place.substr(0, name_at) + place.substr(name_at, kNameMost) + ".";
  for (int tries = 0; tries < kNamesTried; ++tries) {
    beside = start + random_digits() + ".part";
    const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// Only root may give a file away; the group may be one of the user's own.
bool keep_mode_and_owner(int descriptor, const struct stat& old) {
  if (fchown(descriptor, old.st_uid, old.st_gid) != 0)
    (void)!fchown(descriptor, static_cast<uid_t>(-1), old.st_gid);
  return fchmod(descriptor, old.st_mode & 0777) == 0;
}

}  // namespace

std::string real_path(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string text = resolved;
  free(resolved);
  return text;
}

Status write_file(const std::string& path, const TextSource& text, unsigned mode) {
  ARCHGUARD_TRY(place, place_to_write(path));
  struct stat about {};
  const bool exists = stat(place.c_str(), &about) == 0;
  if (is_written_in_place(path, exists ? &about : nullptr)) return write_in_place(path, text);
  const HeldSignals held;  // else one could leave the file beside
  std::string beside;
  // What replaces a file is nobody else's to read before it has that file's mode.
  const int descriptor = create_beside(place, exists ? 0600 : static_cast<mode_t>(mode), beside);
  if (descriptor < 0) {
    Error error = not_written(path, errno);
    error.fix = "name a file in a folder that exists and is yours";
    return error;
  }
  bool written = write_to_descriptor(descriptor, text);
  if (written && exists) written = keep_mode_and_owner(descriptor, about);
  int reason = written ? 0 : errno;
  if (close(descriptor) != 0 && written) reason = errno;
  if (reason == 0 && rename(beside.c_str(), place.c_str()) == 0) return Done{};
  if (reason == 0) reason = errno;
  unlink(beside.c_str());
  return not_written(path, reason);
}

}  // namespace archguard
