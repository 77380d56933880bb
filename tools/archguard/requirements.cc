#include "requirements.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "commands.h"
#include "device/fleet.h"
#include "files.h"
#include "host/elf_dynamic.h"
#include "report/names.h"
#include "requirements/statement.h"
#include "terminal.h"

namespace archguard {
namespace {

namespace needs = requirements;

constexpr std::uint16_t kX86_64 = 62;  // EM_X86_64

// Nothing where it is no linked ELF file.
std::optional<bool> is_linked_for_x86(const ByteSource& source) {
  const auto dynamic = read_elf_dynamic(source);
  if (!dynamic || !*dynamic) return std::nullopt;
  return (*dynamic)->machine == kX86_64;
}

// Of a package, an image or a folder: all that holds device code in it.
bool holds_x86_alone(const std::string& path) {
  PassedOver passed_over;
  const auto files = list_files({path}, {}, passed_over);
  if (!files) return false;
  bool any = false, all = true;
  const auto look = [&](const InputFile&, const DeviceCode& code, const ByteSource& source) {
    all = all && code.errors.empty();
    if (std::none_of(code.objects.begin(), code.objects.end(),
                     [](const DeviceObject& each) { return each.holds_fatbins(); }))
      return;
    any = true;
    all = all && is_linked_for_x86(source).value_or(false);
  };
  visit_files(
      *files, look, [](const FilesDone&) {}, passed_over, Keep::first);
  return any && all;
}

bool is_for_x86(const std::string& path) {
  if (ends_with(path, ".whl")) return ends_with(path, "_x86_64.whl") || ends_with(path, "win_amd64.whl");
  if (const auto source = FileSource::open(path))
    if (const auto told = is_linked_for_x86(*source)) return *told;
  return holds_x86_alone(path);
}

Result<DeviceList> read_map(const std::string& path) {
  DeviceList devices;
  if (path.empty()) return devices;
  ARCHGUARD_TRY(count, read_fleet(path, devices));
  if (count == 0) return no_device_in_fleet(path);
  return devices;
}

Result<std::vector<needs::SlurmName>> slurm_names_in(const DeviceList& map, const std::string& path) {
  if (path.empty()) return std::vector<needs::SlurmName>();
  return needs::slurm_names_of(map, path);
}

Status check_requirements_options(const RequirementsOptions& options) {
  if (options.system == "slurm" && options.slurm_map.empty())
    return Error{
        "--for slurm", "Slurm knows no compute capabilities, only names of the site's own",
        "tell what they stand for: --slurm-map FILE, CSV with the columns feature (or gres) and compute_cap"};
  if (!options.slurm_map.empty() && !options.system.empty() && options.system != "slurm" &&
      options.system != "json")
    return Error{"--slurm-map", "is for --for slurm", "leave it out, or ask --for slurm"};
  return Done{};
}

// What verify says of all the files; an error where one of them could not be read whole.
Result<Verification> judge_requirements(const RequirementsOptions& options, const DeviceList& map) {
  VerifyOptions verify;
  verify.paths = options.paths;
  verify.scope = options.scope;
  verify.given = needs::machines_to_ask(map);
  ARCHGUARD_TRY(verification, verification_of(verify));
  for (const FileResult& file : verification.files)
    if (!file.errors.empty()) return file.errors.front();
  return std::move(verification);
}

bool any_code(const Verification& verification) {
  return std::any_of(verification.files.begin(), verification.files.end(),
                     [](const FileResult& file) { return file.has_code; });
}

Result<int> print_statement(const needs::Statement& statement) {
  for (const std::string& line : statement.lines) print(line + "\n");
  ARCHGUARD_CHECK(finish_printing());
  std::string notes;
  for (const std::string& note : statement.notes) notes += "archguard: note: " + note + "\n";
  print_messages(notes);
  if (statement.none.empty()) return kExitCovered;
  print_error({statement.title, "cannot be expressed: " + statement.none, statement.fix});
  return kExitNotCovered;
}

}  // namespace

bool are_for_x86(const std::vector<std::string>& paths) {
  return !paths.empty() && std::all_of(paths.begin(), paths.end(), is_for_x86);
}

Result<int> run_requirements(const RequirementsOptions& options) {
  ARCHGUARD_CHECK(check_requirements_options(options));
  ARCHGUARD_TRY(map, read_map(options.slurm_map));
  ARCHGUARD_TRY(names, slurm_names_in(map, options.slurm_map));
  ARCHGUARD_TRY(verification, judge_requirements(options, map));
  if (!any_code(verification)) {
    print_error({join(options.paths, ", "), "no device code", {}});
    return verification.passed_over.empty() ? kExitNoDeviceCode : kExitUnreadable;
  }
  if (!verification.passed_over.empty())
    print_messages("archguard: warning: " + passed_over_text(verification.passed_over));
  const needs::Needs found = needs::needs_of(verification, are_for_x86(options.paths));
  const std::vector<needs::Statement> statements = needs::all_statements(found, names);
  const auto asked = std::find_if(statements.begin(), statements.end(), [&](const needs::Statement& each) {
    return each.system == options.system;
  });
  if (asked != statements.end()) return print_statement(*asked);
  print(options.system.empty() ? needs::requirements_text(found, statements, join(options.paths, ", "))
                               : needs::requirements_json(found, statements, options.paths));
  ARCHGUARD_CHECK(finish_printing());
  return needs::ranges_of(found).empty() ? kExitNotCovered : kExitCovered;
}

}  // namespace archguard
