// Metrics of dcgm-exporter in Prometheus' text format. Labels: UUID, modelName, Hostname, and the driver as
// DCGM_FI_DRIVER_VERSION, since 4.9.0 DCGM_FI_SYSTEM_DRIVER_VERSION (release notes of dcgm-exporter).
#include <map>

#include "base/printable.h"
#include "base/text.h"
#include "fleet/sources.h"

namespace archguard::fleet {
namespace {

constexpr std::string_view kMetric = "DCGM_FI_";

// The labels between { and }. Values are quoted, with \\ and \" for these letters and \n for a line end.
bool parse_labels(std::string_view text, std::map<std::string, std::string>& labels) {
  std::size_t at = text.find('{');
  if (at == std::string_view::npos) return false;
  ++at;
  while (at < text.size() && text[at] != '}') {
    const auto equals = text.find("=\"", at);
    if (equals == std::string_view::npos) return false;
    std::string& value = labels[std::string(trim(text.substr(at, equals - at)))];
    value.clear();
    for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
      const bool escaped = text[at] == '\\' && at + 1 < text.size();
      if (escaped) ++at;
      value += escaped && text[at] == 'n' ? '\n' : text[at];
    }
    if (at >= text.size()) return false;
    ++at;
    while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
  }
  return at < text.size();
}

}  // namespace

bool is_dcgm(std::string_view text) {
  Lines lines(text);
  for (std::string_view line; lines.next(line);)
    if (starts_with(line, kMetric) || starts_with(line, "# HELP DCGM_FI_")) return true;
  return false;
}

Status read_dcgm(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  Lines lines(text);
  std::size_t read = 0;
  std::map<std::string, std::string> labels;
  for (std::string_view line; lines.next(line);) {
    if (!starts_with(line, kMetric)) continue;
    labels.clear();
    const auto error = [&](const std::string& what) {
      return Error{file + ":" + std::to_string(lines.number()), what,
                   "write the file again: curl http://NODE:9400/metrics"};
    };
    if (!parse_labels(line, labels)) return error("the labels of the metric are cut short");
    ReportedGpu gpu;
    gpu.identity = labels["UUID"];
    if (gpu.identity.empty()) continue;  // of a switch or a link
    gpu.name = labels["modelName"];
    if (gpu.name.empty()) return error("the metric has a UUID and no modelName");
    gpu.host = labels["Hostname"];
    gpu.driver_version = labels["DCGM_FI_SYSTEM_DRIVER_VERSION"];
    if (gpu.driver_version.empty()) gpu.driver_version = labels["DCGM_FI_DRIVER_VERSION"];
    gpu.mig = !labels["GPU_I_ID"].empty();
    gpu.place = "line " + std::to_string(lines.number());
    ARCHGUARD_CHECK(fleet.add(std::move(gpu)));
    ++read;
  }
  if (read == 0)
    return Error{file, "has no metric of a GPU", "curl http://NODE:9400/metrics of dcgm-exporter"};
  fleet.note_drivers_of_hosts();
  return Done{};
}

}  // namespace archguard::fleet
