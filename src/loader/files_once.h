#pragma once

#include <map>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace archguard {

// Files by what they are, not by how they are named: a link leads to a file that may be known.
class FilesOnce {
 public:
  // True where the file is new; one that is not there is always new.
  bool add(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 ||
           known_.try_emplace({status.st_dev, status.st_ino}, path).second;
  }
  // The path by which the file came to be known; else this one.
  std::string known_as(const std::string& path) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return path;
    const auto known = known_.find({status.st_dev, status.st_ino});
    return known == known_.end() ? path : known->second;
  }

 private:
  std::map<std::pair<dev_t, ino_t>, std::string> known_;
};

}  // namespace archguard
