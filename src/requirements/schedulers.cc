// HTCondor: require_gpus is an expression over the properties of each GPU that a job gets (condor_submit(1)):
// Capability, and MaxSupportedVersion, the CUDA that the driver offers as a whole number, 12040 for 12.4
// (condor_gpu_discovery(1)).
//
// Slurm knows neither: a site names its nodes by features, and its GPUs by the Type of a Gres. A constraint
// takes alternatives of features, `a|b`; a request for a Gres takes one Type (sbatch(1), --constraint and
// --gres).
#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

std::string condor_term(const Range& range) {
  const std::string first = to_string(range.devices.front()), last = to_string(range.devices.back());
  std::vector<std::string> conditions;
  if (!range.open && range.devices.size() == 1) {
    conditions.push_back("Capability == " + first);
  } else {
    conditions.push_back("Capability >= " + first);
    if (!range.open) conditions.push_back("Capability <= " + last);
  }
  if (range.driver)
    conditions.push_back("MaxSupportedVersion >= " +
                         std::to_string(range.driver->major * 1000 + range.driver->minor * 10));
  return "(" + join(conditions, " && ") + ")";
}

// What stands in a constraint as it is.
bool is_plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  });
}

bool is_covered(const Needs& needs, const SlurmName& name) {
  return std::all_of(name.devices.begin(), name.devices.end(),
                     [&](std::size_t i) { return needs.further[i] == Coverage::covered; });
}

}  // namespace

Statement htcondor_statement(const Needs& needs) {
  Statement statement{"htcondor", "HTCondor: lines of a submit description", {}, {}, {}, {}};
  if (nothing_served(needs, statement)) return statement;
  std::vector<std::string> terms;
  for (const Range& each : ranges_of(needs)) terms.push_back(condor_term(each));
  statement.lines = {"request_gpus = 1", "require_gpus = " + join(terms, " || ")};
  return statement;
}

Result<std::vector<SlurmName>> slurm_names_of(const DeviceList& map, const std::string& file) {
  std::vector<SlurmName> names;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const Device device = map[i];
    for (const char* column : {"feature", "gres"}) {
      const auto found = device.extra.find(column);
      if (found == device.extra.end() || found->second.empty()) continue;
      if (!is_plain_name(found->second))
        return Error{device.origin,
                     "'" + printable(found->second) + "' is no name that a constraint of Slurm can hold",
                     "letters, digits, '_', '-', '.' and '/'"};
      const bool is_gres = std::string(column) == "gres";
      auto same = std::find_if(names.begin(), names.end(), [&](const SlurmName& each) {
        return each.name == found->second && each.is_gres == is_gres;
      });
      if (same == names.end()) same = names.insert(names.end(), SlurmName{found->second, is_gres, {}, true});
      same->devices.push_back(i);
      same->tells_drivers &= device.driver_cuda.has_value();
    }
  }
  if (names.empty())
    return Error{file, "names no feature and no Gres type",
                 "add the column feature or gres: feature,compute_cap"};
  return names;
}

Statement slurm_statement(const Needs& needs, const std::vector<SlurmName>& names) {
  Statement statement{"slurm", "Slurm: an option of sbatch", {}, {}, {}, {}};
  if (names.empty()) {
    statement.none = "Slurm knows no compute capabilities, only names of the site's own";
    statement.fix =
        "tell what they stand for: --slurm-map FILE, CSV with the columns feature (or gres) and compute_cap";
    return statement;
  }
  std::vector<std::string> features, not_served;
  bool tells_drivers = true;
  for (const SlurmName& each : names) {
    if (!is_covered(needs, each)) {
      not_served.push_back(each.name);
      continue;
    }
    tells_drivers &= each.tells_drivers;
    if (each.is_gres)
      statement.lines.push_back("--gres=gpu:" + each.name + ":1");
    else
      features.push_back(each.name);
  }
  const bool several_types = statement.lines.size() > 1;
  if (!features.empty())
    statement.lines.insert(statement.lines.begin(), "--constraint=\"" + join(features, "|") + "\"");
  if (statement.lines.empty()) {
    statement.none = "none of the names stands for covered GPUs alone: " + join(not_served, ", ");
    return statement;
  }
  if (several_types) statement.notes.emplace_back("a job asks for one type: take one of the --gres lines");
  if (!features.empty() && several_types + (statement.lines.size() > features.size()) > 0)
    statement.notes.emplace_back("--constraint is about nodes, --gres about GPUs: either will do");
  if (!not_served.empty()) statement.notes.push_back("not for all GPUs of: " + join(not_served, ", "));
  std::optional<Version> driver;
  for (const Range& each : ranges_of(needs))
    if (each.driver && (!driver || *driver < *each.driver)) driver = each.driver;
  if (!tells_drivers && driver)
    statement.notes.push_back("Slurm knows no drivers: the nodes need one of CUDA " + to_string(*driver) +
                              " or newer; a column driver_cuda in the map tells theirs");
  return statement;
}

}  // namespace archguard::requirements
