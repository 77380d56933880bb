#pragma once

#include <set>
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
    return ::stat(path.c_str(), &status) != 0 || known_.insert({status.st_dev, status.st_ino}).second;
  }

 private:
  std::set<std::pair<dev_t, ino_t>> known_;
};

}  // namespace archguard
