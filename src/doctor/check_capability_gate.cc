#include <algorithm>

#include "base/printable.h"
#include "doctor/checks.h"

namespace archguard::doctor {

void check_capability_gate(const Facts& facts, Findings& findings) {
  if (!facts.gate || facts.classes.empty()) return;
  const CapabilityGate& gate = *facts.gate;
  // What it lacks, or what cannot compile for the GPU, is why it asks.
  const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return is_cause(each) && ((each.package && each.package == gate.owner) ||
                              each.id == FindingId::jit_compiler || each.id == FindingId::device_code);
  });
  if (told) return;
  const std::string place = gate.path + ", line " + std::to_string(gate.line);
  Finding finding{FindingId::not_architecture, Rank::likely, gate.owner};
  finding.cause =
      who(gate.owner, gate.path) + " refuses the GPU by a check in its source, whatever its binaries hold";
  finding.evidence = {"the error that was given is raised in " + place,
                      "behind: " + excerpt(gate.condition, 200)};
  finding.fix = "do what the error says, or use a release or a part of " +
                (gate.owner ? gate.owner->name : std::string("it")) + " that supports the GPU";
  findings.push_back(std::move(finding));
}

}  // namespace archguard::doctor
