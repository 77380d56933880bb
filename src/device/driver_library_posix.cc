#include <dlfcn.h>
#include <link.h>

#include "device/driver_library.h"

namespace archguard {

std::vector<std::string> cuda_library_names() {
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"};
}

std::vector<std::string> nvml_library_names() {
  return {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
          "/run/opengl-driver/lib/libnvidia-ml.so.1"};
}

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& names) {
  DynamicLibrary library;
  for (const auto& name : names) {
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) {
      library.state_ = State::loaded;
      return library;
    }
    const char* text = dlerror();
    const std::string error = text != nullptr ? text : "no reason given";
    // A dependency that is missing has its own name in front, and means a broken installation.
    const bool missing = error.find(name + ": ") != std::string::npos &&
                         error.find("No such file or directory") != std::string::npos;
    if (library.error_.empty() || !missing) library.error_ = error;
    if (!missing) {
      library.state_ = State::broken;
      return library;
    }
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

}  // namespace archguard
