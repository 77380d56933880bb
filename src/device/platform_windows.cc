#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <io.h>

#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"
#include "device/platform.h"

namespace archguard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostChildren = 4;
constexpr std::size_t kMostRecordBytes = 4 << 20;
constexpr std::size_t kMostNoiseBytes = 16 << 10;
constexpr unsigned kPollEvery = 5;  // milliseconds
constexpr char kEndLine[] = "\\.";  // the last line of a body that returned, which no record can spell
constexpr char kChildOption[] = "--driver-child";
constexpr unsigned long kFirstException = 0xc0000000;  // exit codes from here on are what ended the process

struct RunningChild {
  WindowsPipe records_pipe, noise_pipe;
  WindowsProcess process;
  std::string records, noise;
  bool done = false;
  ChildOutcome outcome;
};

std::wstring path_of_module(HMODULE module) {
  std::wstring path(512, L'\0');
  for (;;) {
    const DWORD size = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
    if (size < path.size()) return path.substr(0, size);
    path.resize(path.size() * 2);
  }
}

// This program once more, told which body to run and the number of the handle to write its records to.
unsigned long start_child(RunningChild& child, const IsolatedBody& body) {
  for (WindowsPipe* pipe : {&child.records_pipe, &child.noise_pipe})
    if (const auto failed = pipe->open()) return failed;
  const auto handle = reinterpret_cast<std::uintptr_t>(child.records_pipe.write_end());
  std::wstring command_line = L"\"" + path_of_module(nullptr) + L"\"";
  for (const std::string& argument :
       {std::string(kChildOption), std::string(body.name), std::to_string(handle)})
    command_line += L" " + quoted_argument(argument);
  const auto failed =
      child.process.start(command_line, child.noise_pipe, child.noise_pipe, &child.records_pipe, true);
  child.records_pipe.close_write_end();
  child.noise_pipe.close_write_end();
  return failed;
}

void drain_child(RunningChild& child) {
  child.records_pipe.drain(child.records, kMostRecordBytes);
  child.noise_pipe.drain(child.noise, kMostNoiseBytes);
}

// Has the child said its last line, or ended?
void look_after(RunningChild& child) {
  unsigned long exit_code = 0;
  const bool ended = child.process.ended(exit_code);  // looked at first: what it wrote is then in the pipe
  drain_child(child);
  const std::string last_line = "\n" + std::string(kEndLine) + "\n";
  if (child.records == last_line.substr(1) || ends_with(child.records, last_line)) {
    child.outcome.end = ChildOutcome::End::finished;
    child.process.kill();
    child.done = true;
  } else if (ended) {
    child.outcome.end = exit_code >= kFirstException ? ChildOutcome::End::crashed : ChildOutcome::End::exited;
    child.outcome.detail = static_cast<int>(exit_code);
    child.done = true;
  }
}

ChildOutcome outcome_of(RunningChild& child) {
  auto lines = split(child.records, '\n');
  lines.pop_back();  // what follows the last line end: nothing, or a line cut off
  for (const auto line : lines)
    if (line != kEndLine) child.outcome.records.push_back(decode_record(line));
  for (const char c : child.noise)  // the C library writes two letters for a line's end
    if (c != '\r') child.outcome.noise += c;
  return std::move(child.outcome);
}

void write_whole(WindowsHandle handle, std::string_view text) {
  while (!text.empty()) {
    DWORD count = 0;
    if (WriteFile(handle, text.data(), static_cast<DWORD>(text.size()), &count, nullptr) == 0) return;
    text.remove_prefix(count);
  }
}

// No dialogue and no report of a crash; the exit code tells which it was.
LONG WINAPI end_crashed(EXCEPTION_POINTERS* crash) {
  TerminateProcess(GetCurrentProcess(), crash->ExceptionRecord->ExceptionCode);
  return EXCEPTION_EXECUTE_HANDLER;
}

}  // namespace

void RecordSink::put(const Record& record) const {
  write_whole(reinterpret_cast<WindowsHandle>(descriptor_), encode_record(record));
}

std::vector<ChildOutcome> run_isolated(std::initializer_list<IsolatedBody> bodies,
                                       std::chrono::milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  RunningChild children[kMostChildren];
  RunningChild* end_of_children = children;
  for (const IsolatedBody& body : bodies) {
    if (end_of_children == children + kMostChildren) break;
    const unsigned long failed = start_child(*end_of_children, body);
    end_of_children->done = failed != 0;
    end_of_children->outcome.detail = static_cast<int>(failed);
    ++end_of_children;
  }
  for (;;) {
    RunningChild* waiting = nullptr;
    for (RunningChild* child = children; child != end_of_children; ++child) {
      if (!child->done) look_after(*child);
      if (!child->done) waiting = child;
    }
    if (waiting == nullptr || SteadyClock::now() >= deadline) break;
    waiting->process.wait(kPollEvery);
  }
  std::vector<ChildOutcome> outcomes;
  for (RunningChild* child = children; child != end_of_children; ++child) {
    if (!child->done) {
      child->outcome.end = ChildOutcome::End::late;
      child->process.kill();
    }
    outcomes.push_back(outcome_of(*child));
  }
  return outcomes;
}

bool became_isolated_child(const std::vector<std::string>& arguments,
                           std::initializer_list<IsolatedBody> bodies) {
  if (arguments.size() != 3 || arguments[0] != kChildOption) return false;
  const auto number = parse_number(arguments[2], UINTPTR_MAX);
  if (!number) return false;
  for (const IsolatedBody& body : bodies) {
    if (arguments[1] != body.name) continue;
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    SetUnhandledExceptionFilter(end_crashed);
    setvbuf(stdout, nullptr, _IONBF, 0);
    const RecordSink sink(static_cast<std::intptr_t>(*number));
    body.run(sink);
    fflush(nullptr);
    write_whole(reinterpret_cast<WindowsHandle>(static_cast<std::intptr_t>(*number)),
                std::string(kEndLine) + "\n");
    TerminateProcess(GetCurrentProcess(), 0);  // a driver may hang where it is unloaded
  }
  return false;
}

std::vector<std::string> start_program(int argc, char** argv) {
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  std::vector<std::string> arguments;
  int count = 0;
  wchar_t** words = CommandLineToArgvW(GetCommandLineW(), &count);
  if (words == nullptr) return {argv + (argc > 0 ? 1 : 0), argv + argc};
  for (int i = 1; i < count; ++i) arguments.push_back(narrow(words[i]));
  LocalFree(words);
  return arguments;
}

// ---- shared libraries ----

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
  return handle_ == nullptr ? std::string() : narrow(path_of_module(static_cast<HMODULE>(handle_)));
}

// ---- texts ----

std::string signal_text(int signal) {
  switch (static_cast<unsigned long>(signal)) {
    case EXCEPTION_ACCESS_VIOLATION:
      return "access violation";
    case EXCEPTION_ILLEGAL_INSTRUCTION:
      return "illegal instruction";
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
      return "integer division by zero";
    case EXCEPTION_STACK_OVERFLOW:
      return "stack overflow";
    case 0xc0000409:  // STATUS_STACK_BUFFER_OVERRUN: also what a C library that gives up ends with
      return "it stopped itself";
    default:
      return "exception " + hex(static_cast<unsigned>(signal));
  }
}

std::string errno_text(int code) {
  return windows_error_text(static_cast<unsigned long>(code));
}

// ---- environment ----

std::optional<std::string> environment(const char* name) {
  const wchar_t* value = _wgetenv(widen(name).c_str());
  if (value == nullptr) return std::nullopt;
  return narrow(value);
}

std::string host_name() {
  return environment("COMPUTERNAME").value_or("");
}

// ---- what the probe reads of a Linux machine has no counterpart here ----

bool is_windows() {
  return true;
}

std::vector<std::string> environment_with(const std::vector<std::string>&) {
  return {};
}

std::string user_identity() {
  return {};
}

bool path_exists(const std::string&) {
  return false;
}

bool opens_for_reading(const std::string&) {
  return false;
}

std::string read_small_file(const std::string&) {
  return {};
}

std::vector<std::string> list_folder(const std::string&) {
  return {};
}

std::string link_name(const std::string&) {
  return {};
}

std::string file_stamp(const std::string&) {
  return "-";
}

void remove_file(const std::string&) {}

}  // namespace archguard
