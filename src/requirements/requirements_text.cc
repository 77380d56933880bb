#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/driver_text.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

std::string range_text(const Range& range) {
  std::vector<std::string> names;
  for (const ComputeCapability each : range.devices) names.push_back(to_string(each));
  return join(names, ", ") + (range.open ? " and newer" : "") +
         (range.driver ? ", with a driver of " + driver_text(*range.driver) + " or newer" : std::string());
}

std::string statement_text(const Statement& statement) {
  std::string text = "\n" + statement.title + "\n";
  for (const std::string& line : statement.lines) text += "  " + line + "\n";
  if (!statement.none.empty()) text += "  cannot be expressed: " + statement.none + "\n";
  if (!statement.fix.empty()) text += "  fix: " + statement.fix + "\n";
  for (const std::string& note : statement.notes) text += "  note: " + note + "\n";
  return text;
}

// Of what is not covered, what is told: all that is newer than the oldest device which is.
std::string not_covered_text(const Needs& needs) {
  std::string text;
  bool any_served = false;
  const auto tell = [&](const std::string& name, const Served& each) {
    text += std::string("  ") + (each.coverage == Coverage::unknown ? "unknown on " : "not on ") + name +
            (each.why.empty() ? std::string() : ": " + each.why) + "\n";
  };
  for (const Served& each : needs.devices) {
    any_served |= is_served(each);
    if (any_served && !is_served(each)) tell(to_string(each.capability), each);
  }
  if (any_served && !is_served(needs.newer)) tell("future GPUs", needs.newer);
  return text;
}

}  // namespace

bool nothing_served(const Needs& needs, Statement& statement) {
  if (std::any_of(needs.devices.begin(), needs.devices.end(), is_served)) return false;
  statement.none = "no device is covered";
  return true;
}

std::vector<Statement> all_statements(const Needs& needs, const std::vector<SlurmName>& names) {
  return {oci_statement(needs),          kubernetes_statement(needs), dra_statement(needs),
          slurm_statement(needs, names), htcondor_statement(needs),   conda_statement(needs)};
}

const std::vector<std::string>& systems() {
  static const std::vector<std::string> names = {"oci", "kubernetes", "dra", "slurm", "htcondor", "conda"};
  return names;
}

std::string requirements_text(const Needs& needs, const std::vector<Statement>& statements,
                              const std::string& name) {
  std::string text;
  for (const Range& each : ranges_of(needs)) text += printable(name) + ": runs on " + range_text(each) + "\n";
  if (text.empty()) text = printable(name) + ": no device is covered\n";
  text += not_covered_text(needs);
  for (const Statement& each : statements) text += statement_text(each);
  return text;
}

}  // namespace archguard::requirements
