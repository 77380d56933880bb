#pragma once

#include <string>

#include "device/probe.h"
#include "options.h"
#include "select/judge.h"

namespace archguard {

// What a command has to say; main prints it.
struct Answer {
  int exit_code = 0;
  std::string out, err;
};

Answer run_probe_command(const ProbeOptions& options, bool colour);
Answer run_select_command(const SelectOptions& options);

// The answer to an error of the user or of a file: exit status 2, nothing on standard output.
Answer usage_answer(const Error& error);
std::string error_lines(const char* severity, const Error& error);  // "arch_probe: error: …" and its fix
int exit_code_of(ProbeStatus status);                               // 0, 3, 4

// ---- json.cc: the documents of docs/reference ----

// What `select` found, chosen or judged.
struct SelectReport {
  ProbeResult probe;  // of this machine; with a fleet only its devices and the status
  Compiler compiler;
  Selection selection;
  std::vector<JudgedDevice> judged;
  std::vector<UnmadeEntry> unmade;  // of the list that is judged
};

std::string devices_json(const ProbeResult& probe);      // archguard.devices/1
std::string selection_json(const SelectReport& report);  // archguard.select/1

// ---- table.cc ----

std::string devices_table(const ProbeResult& probe, bool colour);

}  // namespace archguard
