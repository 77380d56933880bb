#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/doctor_report.h"

namespace archguard {

struct DoctorOptions {
  std::vector<std::string> paths, pythons, prefixes;
  std::vector<std::string> fleets, devices;
  const doctor::DoctorFormat* format = &doctor::doctor_formats().front();
  std::vector<std::string> pids;
  std::string error;  // a text, or - for standard input
  bool full = false;
};

Result<int> run_doctor(const DoctorOptions& options);

}  // namespace archguard
