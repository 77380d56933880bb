#include "support/factory/shared_library.h"

#include <dlfcn.h>

namespace archguard::factory {

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& paths, const std::string& fix) {
  std::string reasons;
  for (const std::string& path : paths) {
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle, path);
    const char* reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : path.c_str());
  }
  return Error{"", "no library loads: " + reasons, fix};
}

void* SharedLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace archguard::factory
