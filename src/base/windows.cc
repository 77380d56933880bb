#include "base/windows.h"

#include <algorithm>

#include "base/text.h"
#include "base/windows_api.h"

namespace archguard {
namespace {

void close_handle(WindowsHandle& handle) {
  if (handle != nullptr && handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  handle = nullptr;
}

WindowsHandle open_nothing() {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  return CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0,
                     nullptr);
}

}  // namespace

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

WindowsPipe::~WindowsPipe() {
  close_handle(read_);
  close_handle(write_);
}

unsigned long WindowsPipe::open() {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  if (CreatePipe(&read_, &write_, &inherited, 64 << 10) == 0) return GetLastError();
  SetHandleInformation(read_, HANDLE_FLAG_INHERIT, 0);
  return 0;
}

void WindowsPipe::close_write_end() {
  close_handle(write_);
}

// A writer that never pauses must not hold the caller past its deadline: so many bytes at a time, no more.
void WindowsPipe::drain(std::string& text, std::size_t most) {
  char chunk[16384];
  for (int reads = 0; read_ != nullptr && reads < 64; ++reads) {
    DWORD waiting = 0, count = 0;
    if (PeekNamedPipe(read_, nullptr, 0, nullptr, &waiting, nullptr) == 0) return close_handle(read_);
    if (waiting == 0) return;
    if (ReadFile(read_, chunk, sizeof chunk, &count, nullptr) == 0) return close_handle(read_);
    const std::size_t room = most > text.size() ? most - text.size() : 0;
    text.append(chunk, std::min<std::size_t>(count, room));
  }
}

WindowsProcess::~WindowsProcess() {
  close_handle(process_);
  close_handle(job_);
}

unsigned long WindowsProcess::start(const std::wstring& command_line, const WindowsPipe& out,
                                    const WindowsPipe& err, const WindowsPipe* extra, bool bound) {
  WindowsHandle nothing = open_nothing();
  // Without a list, children that are started at once would inherit each other's pipes.
  std::vector<HANDLE> inherited = {nothing, out.write_end()};
  if (err.write_end() != out.write_end()) inherited.push_back(err.write_end());
  if (extra != nullptr) inherited.push_back(extra->write_end());
  SIZE_T size = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::vector<char> room(size);
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = nothing;
  startup.StartupInfo.hStdOutput = out.write_end();
  startup.StartupInfo.hStdError = err.write_end();
  startup.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room.data());
  PROCESS_INFORMATION about{};
  std::wstring line = command_line;  // which CreateProcessW may write to
  const bool started =
      InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size) != 0 &&
      UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                inherited.data(), inherited.size() * sizeof(HANDLE), nullptr, nullptr) != 0 &&
      CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE,
                     CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT, nullptr, nullptr,
                     &startup.StartupInfo, &about) != 0;
  const unsigned long cause = GetLastError();
  close_handle(nothing);
  if (!started) return cause;
  process_ = about.hProcess;
  job_ = CreateJobObjectW(nullptr, nullptr);
  if (bound && job_ != nullptr) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(job_, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  }
  if (job_ != nullptr && AssignProcessToJobObject(job_, process_) == 0) close_handle(job_);
  ResumeThread(about.hThread);
  CloseHandle(about.hThread);
  return 0;
}

bool WindowsProcess::ended(unsigned long& exit_code) const {
  return WaitForSingleObject(process_, 0) == WAIT_OBJECT_0 && GetExitCodeProcess(process_, &exit_code) != 0;
}

void WindowsProcess::wait(unsigned milliseconds) const {
  WaitForSingleObject(process_, milliseconds);
}

void WindowsProcess::kill() {
  if (job_ != nullptr) TerminateJobObject(job_, 1);
  TerminateProcess(process_, 1);
}

}  // namespace archguard
