#include "diff_side.h"

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "compat/toolkit.h"
#include "coverage/fatbin_code.h"
#include "device/fleet.h"
#include "files.h"
#include "judge_files.h"
#include "report/names.h"
#include "terminal.h"

namespace archguard {
namespace {

// The file's path relative to the argument that it was found by; empty of the argument itself, where that is
// the only one.
std::string relative_to(const std::vector<std::string>& arguments, const std::string& path) {
  for (std::string argument : arguments) {
    if (path == argument) return arguments.size() == 1 ? std::string() : std::string(file_name(path));
    while (argument.size() > 1 && argument.back() == '/') argument.pop_back();
    if (starts_with(path, argument + "/")) return path.substr(argument.size() + 1);
    if (argument == ".") return path;
  }
  return path;
}

std::string key_under(const std::vector<std::string>& arguments, const FileResult& result) {
  const std::string path = relative_to(arguments, result.path);
  if (result.member.empty()) return path;
  return path.empty() ? result.member : path + "(" + result.member + ")";
}

}  // namespace

Result<VerifyQuestion> question_of_table(const std::vector<std::string>& fleets,
                                         const std::vector<std::string>& devices, const std::string& scope,
                                         const std::string& embedded) {
  VerifyOptions options;
  options.fleets = fleets;
  options.devices = devices;
  options.scope = scope;
  options.embedded = embedded;
  std::vector<Device> table;
  for (const ComputeCapability capability : known_devices()) {
    ARCHGUARD_TRY(device, parse_device_option(to_string(capability)));
    table.push_back(std::move(device));
  }
  options.given = DeviceList(table);
  return question_of(options);
}

std::string options_of(const std::vector<std::string>& fleets, const std::vector<std::string>& devices,
                       const std::string& scope, const std::string& embedded) {
  std::string options;
  for (const std::string& fleet : fleets) options += " --fleet " + fleet;
  for (const std::string& device : devices) options += " --device " + device;
  if (scope != "fatbin") options += " --scope " + scope;
  if (embedded != "warn") options += " --embedded " + embedded;
  return options;
}

Result<DiffSide> side_of(const std::vector<std::string>& paths, VerifyQuestion& question) {
  DiffSide side;
  side.name = join(paths, ", ");
  side.archguard = ARCHGUARD_VERSION;
  side.scope = question.of_file.policy.scope == Scope::library ? "library" : "fatbin";
  side.embedded = question.of_file.policy.embedded == EmbeddedPolicy::error ? "error"
                  : question.of_file.policy.embedded == EmbeddedPolicy::off ? "off"
                                                                            : "warn";
  for (const DeviceClass& each : question.of_file.classes) side.devices.push_back(diff_device(each));
  PassedOver passed_over;
  ARCHGUARD_TRY(files, list_files(paths, {}, passed_over));
  const auto progress = [&](const FilesDone& done) { show_progress(done, files.size()); };

  std::map<std::pair<std::string, std::string>, FileContents> contents;
  const VerifyRequest& request = question.of_file;
  const auto add = [&](const std::string& path, const std::string& member, const DeviceObject& object,
                       const FatbinCode& code) {
    contents.try_emplace({path, member}, request.classes, request.policy).first->second.add(object, code);
  };
  const FileContents nothing(request.classes, request.policy);
  const KeptVerdicts kept(std::vector<std::string>{});
  const std::function<bool(const std::string&)> passes_bitcode;
  const NeededOptions where;
  const auto take = [&](const JudgedFile& judged) {
    const FileResult& result = judged.result;
    side.errors.insert(side.errors.end(), result.errors.begin(), result.errors.end());
    const auto found = contents.find({result.path, result.member});
    const FileContents& of = found == contents.end() ? nothing : found->second;
    if (!result.has_code && of.sizes().empty()) return;
    side.files.push_back(diff_file(result, of, key_under(paths, result)));
  };
  judge_files(files, {request, question.of_library, question.waivers, kept, passes_bitcode, where, add}, take,
              progress, passed_over);
  side.passed_over = paths_of(passed_over);
  return side;
}

}  // namespace archguard
