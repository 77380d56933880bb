#include "base/windows.h"

#include "base/text.h"
#include "base/windows_api.h"

namespace archguard {

std::wstring widen(const std::string& text) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');
  const int used = size == 0 ? 0 : MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), size);
  wide.resize(static_cast<std::size_t>(used));
  return wide;
}

std::string narrow(const std::wstring& text) {
  const int size = static_cast<int>(text.size());
  std::string narrowed(text.size() * 3, '\0');
  const int used = size == 0 ? 0
                             : WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrowed.data(),
                                                   static_cast<int>(narrowed.size()), nullptr, nullptr);
  narrowed.resize(static_cast<std::size_t>(used));
  return narrowed;
}

std::string windows_error_text(unsigned long code) {
  wchar_t text[512];
  const DWORD size = FormatMessageW(
      FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK, nullptr,
      code, 0, text, 512, nullptr);
  std::string said(trim(narrow(std::wstring(text, size))));
  if (!said.empty() && said.back() == '.') said.pop_back();
  if (const auto insert = said.find("%1"); insert != std::string::npos) said.replace(insert, 2, "this file");
  return said.empty() ? "error " + std::to_string(code) : to_lower(said);
}

// https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments: backslashes are plain unless a
// quotation mark follows them.
std::wstring quoted_argument(const std::string& argument) {
  std::wstring quoted = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : widen(argument)) {
    if (c == L'"') quoted.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    quoted += c;
  }
  return quoted.append(backslashes, L'\\') + L'"';
}

// The file of a module, this program's own without one.
std::wstring windows_module_path(void* module) {
  std::wstring path(512, L'\0');
  for (;;) {
    const DWORD size =
        GetModuleFileNameW(static_cast<HMODULE>(module), path.data(), static_cast<DWORD>(path.size()));
    if (size < path.size()) return path.substr(0, size);
    path.resize(path.size() * 2);
  }
}

}  // namespace archguard
