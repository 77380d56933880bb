#include <algorithm>
#include <iterator>
#include <set>

#include "base/colour.h"
#include "base/text.h"
#include "base/write_file.h"
#include "commands.h"
#include "file_owners.h"
#include "files.h"
#include "image/demangle.h"
#include "judge_files.h"
#include "needed.h"
#include "progress.h"
#include "report/verify_text.h"
#include "report_files.h"
#include "terminal.h"
#include "verify_question.h"
#include "walk.h"

namespace archguard {
namespace {

// The files to judge: those named, those found in folders, and the libraries that they need.
Result<std::vector<InputFile>> collect_files(const VerifyOptions& options, Verification& verification) {
  ARCHGUARD_TRY(files,
                list_files(options.paths, options.found ? "" : options.files_from, verification.passed_over));
  if (options.found) {
    std::vector<InputFile> found = walk_found(*options.found, verification.passed_over);
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  if (options.one_build)
    for (InputFile& file : files) file.found_under = "/";
  if (!options.needed && !options.needed_only) return std::move(files);
  NeededReport needed =
      add_needed(files, options.where, options.needed_only ? NeededFiles::alone : NeededFiles::beside);
  verification.needed.emplace();
  verification.needed->passed_over = std::move(needed.passed_over);
  verification.needed->errors = std::move(needed.errors);
  verification.needed->tried = std::move(needed.tried);
  verification.needed->tried_whole = needed.tried_whole;
  if (options.needed_list.empty()) return std::move(files);
  std::string list;
  for (const InputFile& file : files)
    if (!file.needed_by.empty()) list += file.path + "\n";
  ARCHGUARD_CHECK(write_file(options.needed_list, list));
  return std::move(files);
}

// What reading the files told, beside what looking for their libraries did: each error is said once.
void complete(NeededOutcome& needed, const std::vector<FileResult>& files,
              const std::set<std::string>& zips) {
  for (const std::string& path : zips) needed.errors.push_back(needs_unpacking(path));
  std::set<std::string> said;
  for (const FileResult& file : files)
    for (const Error& error : file.errors) said.insert(error.text());
  needed.errors.erase(std::remove_if(needed.errors.begin(), needed.errors.end(),
                                     [&](const Error& error) { return !said.insert(error.text()).second; }),
                      needed.errors.end());
}

// Judges the files, into the verification.
void judge_all(const std::vector<InputFile>& files, const VerifyOptions& options, VerifyQuestion& question,
               Verification& verification) {
  std::set<std::string> zips;  // whose members are linked, and need libraries
  const KeptVerdicts kept(options.cache);
  const auto take = [&](JudgedFile judged) {
    if (judged.is_linked_member) zips.insert(judged.result.path);
    verification.files.push_back(std::move(judged.result));
  };
  judge_files(
      files,
      {question.of_file, question.of_library, question.waivers, kept, options.passes_bitcode, options.where},
      take, [&](const FilesDone& done) { show_progress(done, files.size()); }, verification.passed_over);
  if (!verification.files.empty()) pass_over_empty(options.paths, files, verification.passed_over);
  find_alternatives(verification, options.any_of);
  if (verification.needed) complete(*verification.needed, verification.files, zips);
  verification.unused_waivers = question.waivers.unused();
}

// Those that change a verdict, as they are typed, in one order.
std::string options_of_policy(const VerifyOptions& options) {
  const VerifyOptions by_default;
  std::vector<std::string> asked;
  const auto add = [&](const char* name, const std::string& value, const std::string& unless) {
    if (value != unless) asked.push_back(std::string(name) + " " + value);
  };
  if (options.scope == "library") asked.emplace_back("--scope library");
  add("--require", options.require, by_default.require);
  if (options.require_ptx) asked.emplace_back("--require-ptx");
  if (options.require_driver) asked.emplace_back("--require-driver");
  add("--driver", options.driver, by_default.driver);
  add("--hollow", options.hollow, by_default.hollow);
  add("--partly", options.partly, by_default.partly);
  add("--embedded", options.embedded, by_default.embedded);
  for (const std::string& setting : options.environment) asked.push_back("--env " + setting);
  return join(asked, " ");
}

ReportOptions report_options(const VerifyOptions& options) {
  ReportOptions report = text_options(options.report);
  report.brief = options.report.brief;
  report.hint_scope = options.scope != "library" && options.target.empty();
  return report;
}

}  // namespace

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::covered:
      return kExitCovered;
    case Outcome::not_covered:
      return kExitNotCovered;
    case Outcome::no_device_code:
      return kExitNoDeviceCode;
    case Outcome::unknown:
      break;
  }
  return kExitUnreadable;
}

Result<Verification> verification_of(const VerifyOptions& options) {
  if (options.paths.empty() && options.files_from.empty())
    return Error{{}, "PATH is required", "archguard verify --help"};
  ARCHGUARD_CHECK(
      check_needed(options.needed || options.needed_only, options.where, options.needed_list, options.cache));
  ARCHGUARD_TRY(question, question_of(options));
  Verification verification;
  verification.devices = std::move(question.devices);
  verification.classes = question.of_file.classes;
  verification.excluded = std::move(question.excluded);
  verification.one_build = options.one_build;
  verification.expects = !question.of_file.expected.empty();
  const bool names_kernels = options.report.format->is_for_people || !options.waivers.empty();
  if (names_kernels || !options.report.reports.empty()) prepare_demangle();
  set_progress("looking for files");
  ARCHGUARD_TRY(files, collect_files(options, verification));
  judge_all(files, options, question, verification);
  return verification;
}

std::string verification_text(const Verification& verification, const VerifyOptions& options) {
  return verify_text(verification, report_options(options));
}

Result<int> run_verify(const VerifyOptions& options) {
  ARCHGUARD_TRY(wanted, reports_of(options.report));
  ARCHGUARD_TRY(verification, verification_of(options));
  verification.asked = options_of_policy(options);
  set_progress("looking for the packages of the files");
  find_owners(verification, options.where.sysroot);
  ReportOptions report = report_options(options);
  if (!options.needed_only) verification.looked_in = paths_and_list(options.paths, options.files_from);
  ARCHGUARD_CHECK(write_all(wanted, verification, report));
  return exit_code(outcome_of(verification));
}

}  // namespace archguard
