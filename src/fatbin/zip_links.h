#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace archguard::fatbin {

using VisitName = std::function<void(const std::string& name)>;

// A target that counts from the archive's top, as a hard link's does, from the folder of the link `name`.
std::string target_from_top(const std::string& name, const std::string& target);

// The links of a zip file or an archive, and which of them promise a binary that it does not hold.
// Paths are as long as Linux takes them; of links together at most 64 MiB are kept. What is beyond counts as
// leading to nothing.
class ZipLinks {
 public:
  // `name`: as the file has it; `target`: where it leads.
  void add(const std::string& name, std::string_view target);

  // The names, sorted, of links that are named like a binary and lead to no file; `visit_files` calls for the
  // name of each that there is, and is not called where no link asks.
  Result<std::vector<std::string>> broken(const std::function<Status(const VisitName&)>& visit_files) const;

 private:
  std::string resolve(std::string_view name, std::size_t& bytes_compared) const;

  std::map<std::string, std::string> targets_;      // by the path from the zip file's top
  std::map<std::string, std::string> like_binary_;  // from the name to that path
  std::size_t kept_ = 0;                            // bytes
};

}  // namespace archguard::fatbin
