#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <io.h>

#include "base/child_process.h"
#include "base/text.h"
#include "base/windows.h"
#include "base/windows_api.h"
#include "device/system.h"

namespace archguard {

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
  return system_error_text(code);
}

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
