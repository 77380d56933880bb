#pragma once

#include <optional>
#include <string>
#include <unordered_map>

namespace archguard::installed {

// Paths of a system whose root is some folder. Inside of it they begin with "/", and links lead to where they
// would lead if that folder were the root.
class RootedPaths {
 public:
  explicit RootedPaths(const std::string& root);  // empty: "/"

  std::string on_disk(const std::string& inside) const { return root_ + inside; }

  // What a path of this process is called inside, as it is written; nothing where it stands outside, or leads
  // upward.
  std::optional<std::string> inside(const std::string& path) const;

  // Without links in its folders, or at all. As it is where links lead round about.
  std::string with_real_folder(const std::string& inside);
  std::string real(const std::string& inside) const;

 private:
  std::string root_;  // "" for "/"
  std::unordered_map<std::string, std::string> folders_;
};

}  // namespace archguard::installed
