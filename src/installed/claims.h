#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "installed/package.h"
#include "installed/rivals.h"

namespace archguard::installed {

// The files that are asked about, and which package claims each. Databases are read past it: of what they
// say, only that about these files is kept.
class Claims {
 public:
  void ask(const std::string& path) { asked_.try_emplace(path); }
  bool asks(const std::string& path) const { return asked_.count(path) != 0; }

  // `record` is the file that says so. The first manager that claims a file has it; two packages of one
  // manager cannot both: the first of them has it, and it is an error.
  void claim(const std::string& path, const Package& package, const std::string& record);

  std::optional<Package> owner_of(const std::string& path) const;
  // Those that nobody claims so far, in order.
  std::vector<std::string> unclaimed() const;

  void add_error(Error error);
  // Files that two packages of one manager claim; a bounded number of them.
  std::vector<Rivals> take_rivals() { return std::move(rivals_); }
  // A bounded number of them.
  std::vector<Error> take_errors() { return std::move(errors_); }

 private:
  std::unordered_map<std::string, std::optional<Package>> asked_;
  std::vector<Error> errors_;
  std::vector<Rivals> rivals_;
};

inline constexpr std::uint64_t kDatabaseFileMost = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kDatabasesMost = std::uint64_t{1} << 30;  // altogether

// Reads databases whole.
class DatabaseFiles {
 public:
  Result<std::string> read(const std::string& path);

 private:
  std::uint64_t left_ = kDatabasesMost;
};

// Calls `visit` with each line that ends, and with the rest.
template <class Visit>
void for_lines(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "a/./b//../c" without what leads nowhere, as text; empty where it leads above its begin.
std::string plain_path(std::string_view path);

// The folders above the paths, "" for the root, each once.
std::set<std::string> folders_above(const std::vector<std::string>& paths);

// The names in a folder that end so, sorted; none where it cannot be read.
std::vector<std::string> names_ending(const std::string& folder, std::string_view ending);

}  // namespace archguard::installed
