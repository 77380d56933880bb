#include <cstdlib>

#include "base/process.h"
#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"

namespace archguard {
namespace {

bool has_folder(const std::string& name) {
  return name.find_first_of("/\\:") != std::string::npos;
}

}  // namespace

bool is_program(const std::string& path) {
  const DWORD attributes = GetFileAttributesW(widen(path).c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

std::string find_program(const std::string& name) {
  if (has_folder(name)) return name;
  const wchar_t* path = _wgetenv(L"PATH");
  for (const auto folder : split(path != nullptr ? narrow(path) : "", ';'))
    for (const char* ending : {".exe", ""}) {
      std::string candidate = std::string(folder) + "\\" + name + ending;
      if (!folder.empty() && is_program(candidate)) return candidate;
    }
  return {};
}

}  // namespace archguard
