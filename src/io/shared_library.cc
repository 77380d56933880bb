#include "io/shared_library.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace archguard {

#ifdef _WIN32

SharedLibrary::SharedLibrary(const char*) {}

void* SharedLibrary::address_of(const char*) const {
  return nullptr;
}

#else

SharedLibrary::SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}

void* SharedLibrary::address_of(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

#endif

}  // namespace archguard
