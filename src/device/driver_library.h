#pragma once

#include <string>
#include <vector>

namespace archguard {

// Where the loader finds the drivers' libraries: names to try in turn.
std::vector<std::string> cuda_library_names();
std::vector<std::string> nvml_library_names();

class DynamicLibrary {
 public:
  enum class State { loaded, missing, broken };

  // Opens the first of `names` that exists. `broken` (and no further name is tried): a file is there, and the
  // loader refuses it. The library is never closed: drivers do not survive that.
  static DynamicLibrary open(const std::vector<std::string>& names);

  State state() const { return state_; }
  const std::string& error() const { return error_; }  // the loader's own words, unless loaded
  void* symbol(const char* name) const;                // nullptr where the library has none
  // The file, as the loader found it: that folder is what a user has to change. Empty unless loaded.
  std::string path() const;

 private:
  State state_ = State::missing;
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace archguard
