// Kubernetes: node affinity on the labels of GPU Feature Discovery, and a CEL expression for dynamic resource
// allocation.
//
// Labels (NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery/README.md): gpu.compute.major and .minor, and
// cuda.runtime-version.major and .minor, the CUDA that the driver offers. One set a node, of one model. Terms
// of node affinity are alternatives, and the expressions of a term must all hold; Gt and Lt compare whole
// numbers (Kubernetes, "Assigning Pods to Nodes").
//
// Attributes (kubernetes-sigs/dra-driver-nvidia-gpu, resourceslice-attributes.md): cudaComputeCapability and
// cudaDriverVersion, versions of three parts, of each GPU.
#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "requirements/statement.h"

namespace archguard::requirements {
namespace {

constexpr const char* kIndent = "      ";

std::string expression(const std::string& label, const std::string& condition) {
  return std::string(kIndent) + "  - {key: nvidia.com/" + label + ", " + condition + "}";
}

std::string one_value_of(const std::vector<int>& values) {
  std::vector<std::string> quoted;
  for (const int each : values) quoted.push_back("\"" + std::to_string(each) + "\"");
  return "operator: In, values: [" + join(quoted, ", ") + "]";
}

std::string greater_than(int value) {
  return "operator: Gt, values: [\"" + std::to_string(value) + "\"]";
}

using Expressions = std::vector<std::string>;

// Each is an alternative.
std::vector<Expressions> driver_terms(std::optional<Version> driver) {
  if (!driver) return {{}};
  const Expressions newer = {expression("cuda.runtime-version.major", greater_than(driver->major))};
  if (driver->minor == 0)
    return {{expression("cuda.runtime-version.major", greater_than(driver->major - 1))}};
  return {{expression("cuda.runtime-version.major", one_value_of({driver->major})),
           expression("cuda.runtime-version.minor", greater_than(driver->minor - 1))},
          newer};
}

// Those of one driver together.
std::vector<Expressions> device_terms(const std::vector<Range>& ranges, std::optional<Version> driver) {
  std::map<int, std::vector<int>> minors;  // by their major
  std::optional<int> open;
  for (const Range& range : ranges) {
    if (range.driver != driver) continue;
    for (const ComputeCapability each : range.devices) minors[each.major].push_back(each.minor);
    if (range.open) open = range.devices.back().major;
  }
  std::vector<std::pair<std::vector<int>, std::vector<int>>> alike;  // majors with the same minors
  for (const auto& each_major : minors) {
    const std::vector<int>& of = each_major.second;
    auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& each) { return each.second == of; });
    if (same == alike.end()) same = alike.insert(alike.end(), {{}, of});
    same->first.push_back(each_major.first);
  }
  std::vector<Expressions> terms;
  for (const auto& [majors, of] : alike)
    terms.push_back({expression("gpu.compute.major", one_value_of(majors)),
                     expression("gpu.compute.minor", one_value_of(of))});
  if (open) terms.push_back({expression("gpu.compute.major", greater_than(*open))});
  return terms;
}

std::vector<std::optional<Version>> drivers_in(const std::vector<Range>& ranges) {
  std::vector<std::optional<Version>> drivers;
  for (const Range& each : ranges)
    if (std::find(drivers.begin(), drivers.end(), each.driver) == drivers.end())
      drivers.push_back(each.driver);
  return drivers;
}

std::string compared(const char* attribute, const char* with, const std::string& version) {
  return "device.attributes[\"gpu.nvidia.com\"]." + std::string(attribute) + ".compareTo(semver(\"" +
         version + ".0\")) " + with + " 0";
}

std::string cel_term(const Range& range) {
  std::vector<std::string> conditions;
  const std::string first = to_string(range.devices.front()), last = to_string(range.devices.back());
  const bool single = !range.open && range.devices.size() == 1;
  conditions.push_back(compared("cudaComputeCapability", single ? "==" : ">=", first));
  if (!range.open && !single) conditions.push_back(compared("cudaComputeCapability", "<=", last));
  if (range.driver) conditions.push_back(compared("cudaDriverVersion", ">=", to_string(*range.driver)));
  return "(" + join(conditions, " && ") + ")";
}

}  // namespace

Statement kubernetes_statement(const Needs& needs) {
  Statement statement{
      "kubernetes", "Kubernetes: affinity of a pod, by the labels of GPU Feature Discovery", {}, {}, {}, {}};
  if (nothing_served(needs, statement)) return statement;
  statement.lines = {"affinity:", "  nodeAffinity:", "    requiredDuringSchedulingIgnoredDuringExecution:",
                     std::string(kIndent) + "nodeSelectorTerms:"};
  const std::vector<Range> ranges = ranges_of(needs);
  for (const std::optional<Version> each : drivers_in(ranges))
    for (const Expressions& device : device_terms(ranges, each))
      for (const Expressions& driver : driver_terms(each)) {
        statement.lines.push_back(std::string(kIndent) + "- matchExpressions:");
        statement.lines.insert(statement.lines.end(), device.begin(), device.end());
        statement.lines.insert(statement.lines.end(), driver.begin(), driver.end());
      }
  statement.notes.emplace_back(
      "node labels name one GPU model per node: on a node with several, they say nothing of the others");
  return statement;
}

Statement dra_statement(const Needs& needs) {
  Statement statement{
      "dra", "Kubernetes, dynamic resource allocation: CEL expression of a device request", {}, {}, {}, {}};
  if (nothing_served(needs, statement)) return statement;
  std::vector<std::string> terms;
  for (const Range& each : ranges_of(needs)) terms.push_back(cel_term(each));
  for (std::size_t i = 0; i < terms.size(); ++i)
    statement.lines.push_back(terms[i] + (i + 1 < terms.size() ? " ||" : ""));
  return statement;
}

}  // namespace archguard::requirements
