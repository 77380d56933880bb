#pragma once

#include <string>

#include "base/text_source.h"
#include "device/device_list.h"
#include "device/probe.h"
#include "options.h"
#include "select/check_list.h"

namespace archguard {

// A command writes what it has to say, errors first, and returns the exit status.
int run_probe_command(const ProbeOptions& options, bool colour, TextSink& out, TextSink& err);
int run_select_command(const SelectOptions& options, TextSink& out, TextSink& err);

// What an error of the user or of a file ends with: exit status 2, nothing on standard output.
int end_with(const Error& error, TextSink& err);
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
  std::vector<ListJudgement> judged;  // by kind; empty where no list is judged
  std::vector<UnmadeEntry> unmade;    // of the list that is judged
};

void write_devices_json(const ProbeReport& report, TextSink& sink);  // archguard.devices/1

class SelectionJson : public TextSource {  // archguard.select/1
 public:
  explicit SelectionJson(const SelectReport& report) : report_(report) {}
  void write_to(TextSink& sink) const override;

 private:
  const SelectReport& report_;
};

// ---- table.cc ----

void write_devices_table(const ProbeReport& report, bool colour, TextSink& sink);

}  // namespace archguard
