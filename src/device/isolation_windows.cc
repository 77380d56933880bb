#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"
#include "device/isolation.h"

namespace archguard {
namespace {

constexpr char kChildOption[] = "--driver-child";

void write_whole(HANDLE handle, std::string_view text) {
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

struct Isolation::State {};
Isolation::Isolation() = default;
Isolation::~Isolation() = default;

bool Isolation::is_interrupted() const {
  return false;
}

// This program once more, told which body to run and the number of the handle to write its records to.
int Isolation::start(const IsolatedBody& body, ChildProcess& process, const ChildPipe& records,
                     const ChildPipe& noise) {
  return start_bound(
      process,
      {narrow(windows_module_path(nullptr)), kChildOption, body.name, std::to_string(records.write_end())},
      noise, noise, records);
}

void RecordSink::put(const Record& record) const {
  write_whole(reinterpret_cast<HANDLE>(descriptor_), encode_record(record));
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
    write_whole(reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(*number)),
                std::string(kIsolatedEnd) + "\n");
    TerminateProcess(GetCurrentProcess(), 0);  // a driver may hang where it is unloaded
  }
  return false;
}

}  // namespace archguard
