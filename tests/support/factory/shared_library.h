#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace archguard::factory {

// A library loaded at run time, never unloaded: NVRTC and nvJitLink keep threads and statics of their own.
class SharedLibrary {
 public:
  // The first of `paths` that loads. The error names every path with the loader's reason, and `fix`.
  static Result<SharedLibrary> open(const std::vector<std::string>& paths, const std::string& fix);

  // Sets `function` to the symbol, or says which library lacks it.
  template <class Function>
  Status bind(const char* symbol, Function*& function) const {
    void* address = find(symbol);
    if (address == nullptr) return Error{path_, std::string("has no function ") + symbol, ""};
    function = reinterpret_cast<Function*>(address);
    return Done{};
  }

  const std::string& path() const { return path_; }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* find(const char* symbol) const;

  void* handle_;
  std::string path_;
};

}  // namespace archguard::factory
