#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/fleet_builder.h"

namespace archguard::fleet {

// A format that lists GPUs, recognised by its content. A new one is a file in this folder and a line of the
// table.
struct FleetSource {
  const char* name;     // for --from
  const char* command;  // that writes it
  bool (*recognises)(std::string_view text);
  // `file` names it in errors.
  Status (*read)(std::string_view text, const std::string& file, FleetBuilder& fleet);
};

const std::vector<FleetSource>& fleet_sources();

// Reads a text into the fleet: in the format of this name, or, where that is empty, in the one that
// recognises it.
Status import_text(std::string_view text, const std::string& file, const std::string& format,
                   FleetBuilder& fleet);

bool is_kubernetes(std::string_view text);
Status read_kubernetes(std::string_view text, const std::string& file, FleetBuilder& fleet);
Status read_dra(std::string_view text, const std::string& file, FleetBuilder& fleet);  // ResourceSlices alone
bool is_slurm(std::string_view text);
Status read_slurm(std::string_view text, const std::string& file, FleetBuilder& fleet);
bool is_htcondor(std::string_view text);
Status read_htcondor(std::string_view text, const std::string& file, FleetBuilder& fleet);
bool is_dcgm(std::string_view text);
Status read_dcgm(std::string_view text, const std::string& file, FleetBuilder& fleet);
bool is_nvidia_smi(std::string_view text);  // a list (-L) or XML (-q -x)
Status read_nvidia_smi(std::string_view text, const std::string& file, FleetBuilder& fleet);
Status read_nvidia_smi_xml(std::string_view text, const std::string& file, FleetBuilder& fleet);
// A fleet file, and what nvidia-smi --query-gpu --format=csv prints, also without compute_cap.
Status read_csv(std::string_view text, const std::string& file, FleetBuilder& fleet);

// Does some line begin with this, after blanks?
bool has_line_start(std::string_view text, std::string_view start);

// The lines of a text, one by one, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }  // of the line that next() gave last, from 1

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace archguard::fleet
