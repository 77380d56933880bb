#pragma once

namespace archguard {

// A library of the system's that is loaded where a format needs it, and stays loaded. Never there on Windows.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name);

  // Is the function there? Then `function` is it.
  template <class Function>
  bool bind(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(name));
    return function != nullptr;
  }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
};

}  // namespace archguard
