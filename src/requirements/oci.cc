// The environment of an OCI image, which NVIDIA's container runtime compares with the machine before it
// starts a container: constraints on `arch`, `cuda`, `driver` and `brand`, where a comma is "and", a blank
// "or", and all variables NVIDIA_REQUIRE_* must hold (NVIDIA/nvidia-container-toolkit,
// internal/requirements/constraints/ factory.go). Its legacy mode asks for each visible GPU
// (NVIDIA/libnvidia-container, src/cli/configure.c); the mode CDI does not ask at all
// (NVIDIA/nvidia-container-toolkit#1470, open in November 2026).
#include "base/text.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

std::string arch_term(const Range& range) {
  const std::string first = to_string(range.devices.front()), last = to_string(range.devices.back());
  if (range.open) return "arch>=" + first;
  if (range.devices.size() == 1) return "arch=" + first;
  return "arch>=" + first + ",arch<=" + last;
}

}  // namespace

Statement oci_statement(const Needs& needs) {
  Statement statement{"oci", "OCI image: its environment, as lines of a Dockerfile", {}, {}, {}, {}};
  if (nothing_served(needs, statement)) return statement;
  const std::vector<Range> ranges = ranges_of(needs);
  const bool shared = share_driver(ranges);
  std::vector<std::string> terms;
  for (const Range& each : ranges)
    terms.push_back(arch_term(each) +
                    (each.driver && !shared ? ",cuda>=" + to_string(*each.driver) : std::string()));
  statement.lines.push_back("ENV NVIDIA_REQUIRE_ARCH=\"" + join(terms, " ") + "\"");
  if (shared && ranges.front().driver)
    statement.lines.push_back("ENV NVIDIA_REQUIRE_CUDA=\"cuda>=" + to_string(*ranges.front().driver) + "\"");
  statement.notes.emplace_back(
      "the NVIDIA runtime checks this in its legacy mode, for each visible GPU; in CDI mode nothing checks "
      "it");
  return statement;
}

}  // namespace archguard::requirements
