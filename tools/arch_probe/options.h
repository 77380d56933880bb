#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "select/select.h"

namespace archguard {

enum class ProbeFormat { table, json, csv };
enum class SelectFormat { cmake, torch, gencode, json };

struct ProbeOptions {
  ProbeFormat format = ProbeFormat::table;
  std::chrono::milliseconds timeout{15000};
  std::vector<std::string> fleets;  // none: this machine
  std::string cache;                // a file that keeps the answer of the drivers; empty: none
  std::string write_devices;        // a file for the devices, beside what is printed; empty: none
};

struct SelectOptions {
  struct Source {
    bool fleet = false;  // else --device
    std::string text;
  };
  std::vector<Source> sources;  // in the order of the command line; none: this machine
  bool detect = true;
  std::string cache;
  std::chrono::milliseconds timeout{15000};
  std::string nvcc;  // one of these two is given
  std::optional<Version> toolkit;
  std::string clang;  // compiles, with that toolkit; empty: nvcc does
  SelectPolicy policy;
  bool error_on_no_device = false;
  bool error_on_detect_failure = false;
  std::vector<ArchEntry> judge;  // a list to hold against the devices too; empty: none
  SelectFormat format = SelectFormat::cmake;
  std::string write_devices, write_json;
};

struct Options {
  enum class Wants { answer, help, short_help, version } wants = Wants::answer;
  bool is_select = false;
  ProbeOptions probe;
  SelectOptions select;
};

// The command line without the program's name. `--option value` and `--option=value` are the same.
Result<Options> parse_options(const std::vector<std::string>& arguments);

// `whole`: with examples and exit statuses.
std::string probe_help(bool whole);
std::string select_help(bool whole);

}  // namespace archguard
