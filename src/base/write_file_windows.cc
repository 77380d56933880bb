#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"
#include "base/write_file.h"

namespace archguard {
namespace {

bool write_to_handle(HANDLE file, std::string_view text) {
  while (!text.empty()) {
    DWORD count = 0;
    const auto wanted = static_cast<DWORD>(text.size() < (1 << 30) ? text.size() : 1 << 30);
    if (WriteFile(file, text.data(), wanted, &count, nullptr) == 0 || count == 0) return false;
    text.remove_prefix(count);
  }
  return true;
}

class HandleSink : public TextSink {
 public:
  explicit HandleSink(HANDLE file) : file_(file) {}
  unsigned long cause() const { return cause_; }  // of the first write that failed, or 0

 private:
  void pass_on(std::string_view text) override {
    if (cause_ == 0 && !write_to_handle(file_, text)) cause_ = GetLastError();
  }

  HANDLE file_;
  unsigned long cause_ = 0;
};

}  // namespace

std::string real_path(const std::string& path) {
  return path;
}

Status write_file(const std::string& path, const TextSource& text, unsigned) {
  const std::wstring name = widen(path);
  LARGE_INTEGER now{};
  QueryPerformanceCounter(&now);
  const std::wstring beside =
      name + L"." + std::to_wstring(GetCurrentProcessId()) + L"." + std::to_wstring(now.QuadPart) + L".part";
  HANDLE file = CreateFileW(beside.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, CREATE_NEW,
                            FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE)
    return Error{path, "cannot be written: " + windows_error_text(GetLastError()),
                 "name a file in a folder that exists and is yours"};
  HandleSink sink(file);
  text.write_to(sink);
  sink.flush();
  unsigned long cause = sink.cause();
  bool written = cause == 0;
  CloseHandle(file);
  if (written) {
    written = MoveFileExW(beside.c_str(), name.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
    cause = GetLastError();
  }
  if (written) return Done{};
  DeleteFileW(beside.c_str());
  return Error{path, "cannot be written: " + windows_error_text(cause), ""};
}

}  // namespace archguard
