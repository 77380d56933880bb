#include <algorithm>

#include "base/child_process.h"
#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"

namespace archguard {
namespace {

constexpr DWORD kReapPatience = 100;           // milliseconds
constexpr DWORD kFirstException = 0xc0000000;  // exit codes from here on are what ended the process

HANDLE handle_of(std::intptr_t number) {
  return reinterpret_cast<HANDLE>(number);
}

std::intptr_t number_of(HANDLE handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}

void close_handle(std::intptr_t& number) {
  if (number != -1 && number != 0) CloseHandle(handle_of(number));
  number = -1;
}

HANDLE open_nothing() {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  return CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0,
                     nullptr);
}

int start_process(ChildProcess& child, const std::vector<std::string>& argv, const ChildPipe& out,
                  const ChildPipe& err, const ChildPipe* extra) {
  std::wstring line;  // which CreateProcessW may write to
  for (const std::string& argument : argv) line += (line.empty() ? L"" : L" ") + quoted_argument(argument);
  HANDLE nothing = open_nothing();
  // Without a list, children that are started at once would inherit each other's pipes.
  std::vector<HANDLE> inherited = {nothing, handle_of(out.write_end())};
  if (err.write_end() != out.write_end()) inherited.push_back(handle_of(err.write_end()));
  if (extra != nullptr) inherited.push_back(handle_of(extra->write_end()));
  SIZE_T size = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::vector<char> room(size);
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = nothing;
  startup.StartupInfo.hStdOutput = handle_of(out.write_end());
  startup.StartupInfo.hStdError = handle_of(err.write_end());
  startup.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room.data());
  PROCESS_INFORMATION about{};
  const bool started =
      InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size) != 0 &&
      UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                inherited.data(), inherited.size() * sizeof(HANDLE), nullptr, nullptr) != 0 &&
      CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE,
                     CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT, nullptr, nullptr,
                     &startup.StartupInfo, &about) != 0;
  const DWORD cause = GetLastError();
  CloseHandle(nothing);
  if (!started) return static_cast<int>(cause);
  HANDLE job = CreateJobObjectW(nullptr, nullptr);
  if (extra != nullptr && job != nullptr) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  }
  if (job != nullptr && AssignProcessToJobObject(job, about.hProcess) == 0) {
    CloseHandle(job);
    job = nullptr;
  }
  ResumeThread(about.hThread);
  CloseHandle(about.hThread);
  child.adopt(number_of(about.hProcess), job != nullptr ? number_of(job) : -1);
  return 0;
}

}  // namespace

std::string system_error_text(int code) {
  return windows_error_text(static_cast<unsigned long>(code));
}

ChildPipe::~ChildPipe() {
  close_handle(read_);
  close_handle(write_);
}

int ChildPipe::open() {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  HANDLE ends[2] = {};
  if (CreatePipe(&ends[0], &ends[1], &inherited, 64 << 10) == 0) return static_cast<int>(GetLastError());
  SetHandleInformation(ends[0], HANDLE_FLAG_INHERIT, 0);
  read_ = number_of(ends[0]);
  write_ = number_of(ends[1]);
  return 0;
}

void ChildPipe::close_write_end() {
  close_handle(write_);
}

void ChildPipe::drain(std::string& text, std::size_t most) {
  char chunk[16384];
  for (int reads = 0; is_open() && reads < 64; ++reads) {
    DWORD waiting = 0, count = 0;
    if (PeekNamedPipe(handle_of(read_), nullptr, 0, nullptr, &waiting, nullptr) == 0)
      return close_handle(read_);
    if (waiting == 0) return;
    if (ReadFile(handle_of(read_), chunk, sizeof chunk, &count, nullptr) == 0) return close_handle(read_);
    const std::size_t room = most > text.size() ? most - text.size() : 0;
    text.append(chunk, std::min<std::size_t>(count, room));
  }
}

ChildProcess::~ChildProcess() {
  close_handle(process_);
  close_handle(job_);
}

int ChildProcess::start(const std::vector<std::string>& argv, const ChildPipe& out, const ChildPipe& err) {
  return start_process(*this, argv, out, err, nullptr);
}

int start_bound(ChildProcess& child, const std::vector<std::string>& argv, const ChildPipe& out,
                const ChildPipe& err, const ChildPipe& extra) {
  return start_process(child, argv, out, err, &extra);
}

void ChildProcess::adopt(std::intptr_t process, std::intptr_t job) {
  process_ = process;
  job_ = job;
}

std::optional<ChildEnd> ChildProcess::end() {
  DWORD code = 0;
  if (end_ || process_ == kNone || WaitForSingleObject(handle_of(process_), 0) != WAIT_OBJECT_0 ||
      GetExitCodeProcess(handle_of(process_), &code) == 0)
    return end_;
  end_ = ChildEnd{code >= kFirstException ? ChildEnd::How::crashed : ChildEnd::How::exited,
                  static_cast<int>(code)};
  return end_;
}

void ChildProcess::kill() {
  if (process_ == kNone) return;
  end();
  if (job_ != kNone) TerminateJobObject(handle_of(job_), 1);
  TerminateProcess(handle_of(process_), 1);
  WaitForSingleObject(handle_of(process_), kReapPatience);
}

void wait_for_child(std::initializer_list<const ChildPipe*>, const ChildProcess& process,
                    std::chrono::milliseconds most) {
  constexpr long long kShort = 5;  // a pipe that fills ends no wait
  WaitForSingleObject(handle_of(process.native()),
                      static_cast<DWORD>(std::clamp<long long>(most.count(), 0, kShort)));
}

}  // namespace archguard
