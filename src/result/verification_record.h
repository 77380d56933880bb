#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coverage/verification.h"

namespace archguard {

// What verify found, whole, beside what its JSON tells, so that other runs can be joined with it and
// reported: texts of letters that JSON takes as they are. One text holds what there is once, with the kinds
// of devices; one is of each file, as there may be a million. What they hold is that of the structs: no other
// version of the program reads it.
std::string record_of(const Verification& verification, const std::string& version, bool hint_scope);
std::string record_of_file(const FileResult& file);

// The version of the program that wrote a record; empty where it is none.
std::string version_of_record(std::string_view record);

struct ReadRecord {
  std::vector<Device> kinds;       // as DeviceList::kinds() has them
  std::vector<std::string> globs;  // of alternatives: for find_alternatives(), when the files are there
  bool hint_scope = false;         // of ReportOptions
  Verification verification;       // without devices, classes, files and alternatives
};
// Nothing for what the functions above did not make. They may hold anything.
std::optional<ReadRecord> read_record(std::string_view record);
std::optional<FileResult> read_file_record(std::string_view record);

}  // namespace archguard
