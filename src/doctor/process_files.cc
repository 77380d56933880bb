#include "doctor/process_files.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.h"
#include "base/text_file.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

std::string link_target(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string() : target.string();
}

}  // namespace

Result<RunningProcess> read_process(int id) {
  const std::string folder = "/proc/" + std::to_string(id);
  std::error_code error;
  if (!fs::exists(folder, error)) return Error{folder, "no process has this number", "name one that runs"};
  const auto maps = read_text_file(folder + "/maps");
  if (!maps) return Error{folder, "belongs to another user", "run it as that user"};
  RunningProcess process;
  std::set<std::string> files;  // a path at the end of a line
  for (const std::string_view line : split(*maps, '\n'))
    if (const auto at = line.find('/'); at != std::string::npos) files.emplace(line.substr(at));
  process.files.assign(files.begin(), files.end());
  process.program = link_target(folder + "/exe");
  process.folder = link_target(folder + "/cwd");
  if (const auto arguments = read_text_file(folder + "/cmdline"))
    process.started_as = std::string(split(*arguments, '\0').front());
  if (const auto settings = read_text_file(folder + "/environ")) {
    process.variables.emplace();
    for (const std::string_view setting : split(*settings, '\0'))
      if (const auto equals = setting.find('='); equals != std::string_view::npos)
        process.variables->emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return process;
}

std::string path_started(const RunningProcess& process) {
  std::vector<std::string> candidates;
  if (process.started_as.find('/') != std::string::npos) {
    candidates.push_back(starts_with(process.started_as, "/") ? process.started_as
                                                              : process.folder + "/" + process.started_as);
  } else if (process.variables && process.variables->count("PATH") != 0) {
    for (const std::string_view folder : split(process.variables->at("PATH"), ':'))
      if (!folder.empty()) candidates.push_back(std::string(folder) + "/" + process.started_as);
  }
  std::error_code error;
  for (const std::string& candidate : candidates)
    if (fs::is_regular_file(candidate, error))
      return fs::canonical(candidate, error) == process.program ? candidate : std::string();
  return {};
}

}  // namespace archguard::doctor
