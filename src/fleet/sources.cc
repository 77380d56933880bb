#include "fleet/sources.h"

#include "base/text.h"

namespace archguard::fleet {
namespace {

bool any_text(std::string_view) {
  return true;
}

}  // namespace

bool Lines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const auto end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++number_;
  return true;
}

bool has_line_start(std::string_view text, std::string_view start) {
  Lines lines(text);
  for (std::string_view line; lines.next(line);)
    if (starts_with(trim(line), start)) return true;
  return false;
}

const std::vector<FleetSource>& fleet_sources() {
  static const std::vector<FleetSource> sources = {
      {"kubernetes", "kubectl get nodes -o json", is_kubernetes, read_kubernetes},
      {"dra", "kubectl get resourceslices -o json", is_kubernetes, read_dra},
      {"nvidia-smi", "nvidia-smi -L, or nvidia-smi -q -x", is_nvidia_smi, read_nvidia_smi},
      {"slurm", "scontrol show node", is_slurm, read_slurm},
      {"htcondor", "condor_status -af:h Machine GPUs_Capability GPUs_DeviceName GPUs_DriverVersion",
       is_htcondor, read_htcondor},
      {"dcgm", "curl http://NODE:9400/metrics", is_dcgm, read_dcgm},
      {"csv", "nvidia-smi --query-gpu=name,compute_cap,driver_version,uuid --format=csv", any_text,
       read_csv}};
  return sources;
}

Status import_text(std::string_view text, const std::string& file, const std::string& format,
                   FleetBuilder& fleet) {
  if (trim(text).empty())
    return Error{file, text.empty() ? "is empty" : "holds only blanks", "check the command that wrote it"};
  for (const FleetSource& source : fleet_sources()) {
    if (format.empty() ? !source.recognises(text) : format != source.name) continue;
    fleet.begin(file, source.name);
    return source.read(text, file, fleet);
  }
  return Error{file, "is of no format that is known", {}};
}

}  // namespace archguard::fleet
