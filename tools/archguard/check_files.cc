#include <cstdio>

#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/write_file.h"
#include "check_state.h"
#include "check_target.h"
#include "commands.h"
#include "coverage/verification.h"
#include "report/verify_json.h"
#include "report_files.h"
#include "target_parameters.h"
#include "terminal.h"

namespace archguard {
namespace {

const char* outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::covered:
      return "covers every device";
    case Outcome::not_covered:
      return "does not cover every device";
    case Outcome::no_device_code:
      return "holds no device code: leave archguard_verify_install out, or call it behind the last install()";
    case Outcome::unknown:
      break;
  }
  return "could not be judged";
}

// What the answer rests on, so that a file that is replaced by an older one is checked again.
Result<CheckState> state_of(const std::string& files, const VerifyOptions& verify) {
  ARCHGUARD_TRY(list, read_text_file(files));
  std::vector<std::string> paths;
  for (const std::string_view line : split(list, '\n'))
    if (const std::string_view path = trim(line); !path.empty()) paths.emplace_back(path);
  add_inputs(verify, paths);
  CheckState state;
  state.files = file_states(paths);
  return state;
}

// A later install rule may have moved them.
void tell_of_gone(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  const std::string more = paths.size() > 1 ? " and " + std::to_string(paths.size() - 1) + " more" : "";
  print_messages("archguard: note: installed, and not there any more: " + printable(paths.front()) + more +
                 "\n");
}

}  // namespace

Result<Verification> find_of_files(const std::string& parameters, const std::string& files) {
  ARCHGUARD_TRY(asked, read_files_parameters(parameters));
  asked.verify.files_from = files;
  asked.verify.one_build = true;
  return verification_of(asked.verify);
}

Result<int> run_check_files(const CheckFilesOptions& options) {
  const std::int64_t began = file_time_now();
  for (const std::string& path : {options.stamp, options.state})
    if (!path.empty()) std::remove(path.c_str());
  ARCHGUARD_TRY(files, read_files_parameters(options.parameters));
  ARCHGUARD_TRY(state, state_of(options.files, files.verify));
  files.verify.files_from = options.files;
  files.verify.one_build = true;
  if (options.installed) {
    ARCHGUARD_TRY(manifest, read_text_file(options.files));
    files.verify.found = installed_paths(manifest, options.destdir);
    tell_of_gone(files.verify.found->gone);
  }
  files.verify.report.brief = true;
  if (!options.component.empty()) {  // one without device code has no alternatives either
    VerifyOptions any = files.verify;
    any.any_of.clear();
    ARCHGUARD_TRY(found, verification_of(any));
    const bool only_packed = found.files.empty() && !found.passed_over.empty();  // a man page
    if (only_packed || outcome_of(found) == Outcome::no_device_code) {
      print_messages("archguard: note: component '" + printable(options.component) +
                     "' installs no device code\n");
      return kExitCovered;
    }
  }
  ARCHGUARD_TRY(verification, verification_of(files.verify));
  print(verification_text(verification, files.verify));
  ARCHGUARD_CHECK(finish_printing());
  if (!options.report_json.empty())
    ARCHGUARD_CHECK(write_file(options.report_json, VerifyJson(verification, with_record({}, verification))));
  ARCHGUARD_CHECK(write_also(options.reports, verification));
  if (!options.attach.empty()) ARCHGUARD_CHECK(attach_page(options.attach, verification));
  if (!options.state.empty()) write_kept_checks(options.state, {keep_check(std::move(state), began, true)});
  const Outcome outcome = outcome_of(verification);
  const bool fails = outcome != Outcome::covered && files.severity == Severity::error;
  if (outcome != Outcome::covered)
    print_messages(std::string("archguard: ") + (fails ? "error" : "warning") + ": " +
                   printable(files.subject) + " " + outcome_text(outcome) + "\n");
  if (fails) return kExitNotCovered;
  if (!options.stamp.empty()) ARCHGUARD_CHECK(write_file(options.stamp, ""));
  return kExitCovered;
}

}  // namespace archguard
