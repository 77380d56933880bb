#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"
#include "diff/diff_report.h"
#include "installed.h"
#include "report/formats.h"

namespace archguard {

// Exit codes of both commands (docs/reference/archguard.md).
inline constexpr int kExitCovered = 0;
inline constexpr int kExitNotCovered = 1;
inline constexpr int kExitUnreadable = 2;  // and usage, and anything unknown
inline constexpr int kExitNoDeviceCode = 3;

// Where needed libraries are, beside where the loader of this machine finds them.
struct NeededOptions {
  std::string sysroot;                  // the root of another system, that the files are for; empty: this one
  std::vector<std::string> rpath_link;  // folders that are asked last
};

struct InspectOptions {
  std::vector<std::string> paths;
  bool kernels = false;
  bool needed = false;
  NeededOptions where;
  std::string by = "arch";
  std::string sort = "name";       // of kernels
  std::optional<std::size_t> top;  // the largest, so many
  // Also what verify says of each device of the table, and of these: what diff compares.
  bool coverage = false;
  std::vector<std::string> fleets, devices;
  std::string scope = "fatbin", embedded = "warn";
  const ReportFormat* format = &report_formats().front();
};

// The reports of verify and report.
struct ReportChoice {
  const ReportFormat* format = &report_formats().front();
  std::string output;
  std::vector<std::string> reports;  // FORMAT=FILE
  bool brief = false;
  bool full = false;
};

struct VerifyOptions {
  std::vector<std::string> paths;
  std::string files_from;
  std::optional<FoundPaths> found;  // what files_from names, where it was read already
  bool one_build = false;           // these belong together: any_of takes them as files of one folder
  std::vector<std::string> fleets;
  std::vector<std::string> devices;
  std::vector<std::string> promises;  // of metadata, or files that hold some
  std::optional<DeviceList> given;    // further ones
  bool this_machine = false;
  std::vector<std::string> environment;
  std::string expect;
  std::string excluded;
  bool needed = false;
  bool needed_only = false;
  std::string needed_list;
  NeededOptions where;
  std::vector<std::string> cache;
  std::string scope = "fatbin";  // or "container", which is the same
  std::string require = "any";
  bool require_ptx = false;
  bool require_driver = false;
  std::string hollow = "warn";
  std::string driver = "error";
  std::string partly = "error";
  std::string embedded = "warn";
  std::vector<std::string> any_of;
  std::string waivers;
  std::string target;                       // a CMake target, for the fix
  bool compiles_cuda = true;                // has it CUDA sources?
  std::vector<std::string> linked_cuda;     // targets whose device code it links
  std::string target_word, target_spelled;  // FixTarget::word
  ReportChoice report;
  // Is this object of LLVM's bitcode or MSVC's /GL, as messages name it, passed over? Without it none is.
  std::function<bool(const std::string&)> passes_bitcode;
};

struct ReportCommandOptions {
  std::vector<std::string> results;  // of verify --format json
  ReportChoice report;
};

struct DiffOptions {
  std::vector<std::string> paths;  // OLD and NEW; with two fleets, files
  std::vector<std::string> fleets;
  std::vector<std::string> devices;
  std::string fleet_from, fleet_to;
  std::string grow;  // in percent
  std::string scope = "fatbin";
  std::string embedded = "warn";
  const DiffFormat* format = &diff_formats().front();
  std::vector<std::string> reports;  // FORMAT=FILE
};

inline constexpr int kExitKnown = 0;
inline constexpr int kExitNotKnown = 1;

inline constexpr const char* kHowToExplain = "archguard explain 209, or: archguard explain - < LOG";
struct ExplainOptions {
  std::vector<std::string> words;  // of one text; or "-" for standard input
  std::string format = "text";
};

struct ReleasesOptions {
  std::string package;
  std::vector<std::string> devices;
  std::string platform = "x86_64";
  std::string python;
  std::string format = "text";
};

struct PreflightTableOptions {
  std::vector<std::string> paths;  // the program or library, then files whose code it hands to the driver
  std::string output;
  bool allow_empty = false;
};

// The exit code, or the error that kept the command from answering (exit 2).
Result<int> run_inspect(const InspectOptions& options);
Result<int> run_verify(const VerifyOptions& options);
Result<int> run_report(const ReportCommandOptions& options);
Result<int> run_diff(const DiffOptions& options);
Result<int> run_explain(const ExplainOptions& options);
Result<int> run_releases(const ReleasesOptions& options);
Result<int> run_preflight_table(const PreflightTableOptions& options);

// What verify finds, and its report for people.
Result<Verification> verification_of(const VerifyOptions& options);
std::string verification_text(const Verification& verification, const VerifyOptions& options);

// Of verify and report.
int exit_code(Outcome outcome);

}  // namespace archguard
