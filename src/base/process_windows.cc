#include <cstdlib>

#include "base/process.h"
#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"

namespace archguard {
namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr std::size_t kMostProcessOutput = std::size_t{4} << 20;
constexpr unsigned kProcessPollEvery = 5;  // milliseconds
constexpr std::chrono::milliseconds kProcessKillGrace{500};

bool has_folder(const std::string& name) {
  return name.find_first_of("/\\:") != std::string::npos;
}

}  // namespace

Result<ProcessOutcome> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  if (argv.empty() || argv[0].empty()) return Error{"", "there is no program to run", ""};
  WindowsPipe out, err;
  for (WindowsPipe* pipe : {&out, &err})
    if (const auto failed = pipe->open())
      return Error{argv[0], "cannot make a pipe: " + windows_error_text(failed), ""};
  std::wstring command_line;
  for (const auto& argument : argv)
    command_line += (command_line.empty() ? L"" : L" ") + quoted_argument(argument);

  auto deadline = ProcessClock::now() + timeout;
  WindowsProcess child;
  if (const auto failed = child.start(command_line, out, err, nullptr, false))
    return Error{argv[0], "cannot be run: " + windows_error_text(failed), ""};
  out.close_write_end();
  err.close_write_end();

  ProcessOutcome outcome;
  for (;;) {
    child.wait(kProcessPollEvery);
    unsigned long exit_code = 0;
    const bool ended = child.ended(exit_code);
    out.drain(outcome.out, kMostProcessOutput);
    err.drain(outcome.err, kMostProcessOutput);
    if (ended && !outcome.timed_out) outcome.exit_status = static_cast<int>(exit_code);
    if (ended) return outcome;
    if (ProcessClock::now() < deadline) continue;
    if (outcome.timed_out) return outcome;
    outcome.timed_out = true;
    child.kill();
    deadline = ProcessClock::now() + kProcessKillGrace;
  }
}

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
