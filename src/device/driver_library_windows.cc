#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"
#include "device/driver_library.h"
#include "device/system.h"

namespace archguard {

std::vector<std::string> cuda_library_names() {
  return {"nvcuda.dll"};
}

std::vector<std::string> nvml_library_names() {
  return {"nvml.dll"};
}

// The system's folder and PATH, as the loader has them in its list, but neither this program's folder nor the
// current one: what lies there serves no other program.
DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& names) {
  DynamicLibrary library;
  wchar_t system[MAX_PATH] = {};
  GetSystemDirectoryW(system, MAX_PATH);
  const std::wstring folders = system + (L";" + widen(environment("PATH").value_or("")));
  for (const auto& name : names) {
    wchar_t found[4096];
    const DWORD size = SearchPathW(folders.c_str(), widen(name).c_str(), nullptr, 4096, found, nullptr);
    if (size == 0 || size >= 4096) {
      if (library.error_.empty()) library.error_ = name + ": " + windows_error_text(ERROR_MOD_NOT_FOUND);
      continue;
    }
    library.handle_ = LoadLibraryExW(found, nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    library.state_ = library.handle_ != nullptr ? State::loaded : State::broken;
    library.error_ =
        library.handle_ != nullptr ? "" : narrow(found) + ": " + windows_error_text(GetLastError());
    return library;
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
  if (handle_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

std::string DynamicLibrary::path() const {
  return handle_ == nullptr ? std::string() : narrow(windows_module_path(handle_));
}

}  // namespace archguard
