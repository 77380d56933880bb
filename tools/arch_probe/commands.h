#pragma once

#include <string>

#include "base/text_source.h"
#include "device/device_list.h"
#include "device/probe.h"
#include "options.h"
#include "select/judge.h"

namespace archguard {

// What a command has to say; main prints it.
struct Answer {
  int exit_code = 0;
  TextSource out, err;  // hold what they are made of; none says nothing
};

Answer run_probe_command(const ProbeOptions& options, bool colour);
Answer run_select_command(const SelectOptions& options);

// The answer to an error of the user or of a file: exit status 2, nothing on standard output.
Answer usage_answer(const Error& error);
std::string error_lines(const char* severity, const Error& error);  // "arch_probe: error: …" and its fix
int exit_code_of(ProbeStatus status);                               // 0, 3, 4

// ---- json.cc: the documents of docs/reference ----

// What there is: the devices of `probe`, or of fleets.
struct ProbeReport {
  ProbeResult probe;  // of this machine; of fleets only the status and diagnostics
  DeviceList devices;
};

// What `select` found, chosen or judged.
struct SelectReport : ProbeReport {
  Compiler compiler;
  Selection selection;
  std::vector<JudgedDevice> judged;
  std::vector<UnmadeEntry> unmade;  // of the list that is judged
};

TextSource devices_json(const ProbeReport& report);     // archguard.devices/1
TextSource selection_json(const SelectReport& report);  // archguard.select/1

// ---- table.cc ----

TextSource devices_table(const ProbeReport& report, bool colour);

}  // namespace archguard
