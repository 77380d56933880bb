// What HTCondor tells: `condor_gpu_discovery -properties`, nested or not, of one host, and the table of
// `condor_status -af:h Machine GPUs_Capability GPUs_DeviceName GPUs_DriverVersion`. DriverVersion is the CUDA
// that the driver offers, with two digits behind the dot: 11.20 is 11.2 (condor_gpu_discovery(1),
// CUDADriverVersion).
#include <algorithm>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "fleet/sources.h"
#include "fleet/texts.h"

namespace archguard::fleet {
namespace {

constexpr std::string_view kDetected = "DetectedGPUs";

std::string unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// "12.40" → "12.4", "11.20" → "11.2", "12.4" as it is.
std::string cuda_of(std::string version) {
  const auto dot = version.find('.');
  if (dot != std::string::npos && version.size() == dot + 3 && version.back() == '0') version.pop_back();
  return version;
}

// "[ Capability=7.5; DeviceName="Tesla T4" ]". A semicolon in quotes divides nothing.
Texts parse_nested(std::string_view text) {
  Texts properties;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != ';' || quoted)) continue;
    const std::string_view piece = text.substr(begin, i - begin);
    if (const auto equals = piece.find('='); equals != std::string_view::npos)
      properties[std::string(trim(piece.substr(0, equals)))] = unquoted(piece.substr(equals + 1));
    begin = i + 1;
  }
  return properties;
}

class Discovery {
 public:
  Discovery(const std::string& file, FleetBuilder& fleet) : file_(file), fleet_(fleet) {}

  Status read(std::string_view text) {
    Lines lines(text);
    std::string record;
    bool open = false;
    for (std::string_view line; lines.next(line);) {  // a nested value may take several lines
      line = trim(line);
      if (record.empty()) {
        open = line.find("=[") != std::string_view::npos || line.find("= [") != std::string_view::npos;
      } else {
        record += ' ';
      }
      record += line;
      if (open && line.find(']') == std::string_view::npos) continue;
      take(record);
      record.clear();
    }
    if (!record.empty()) return Error{file_, "is cut short: '" + excerpt(record, 60) + "'", kAgain};
    return add_all();
  }

 private:
  static constexpr const char* kAgain = "condor_gpu_discovery -properties";

  void take(std::string_view record) {
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) return;
    const std::string name(trim(record.substr(0, equals)));
    const std::string_view value = trim(record.substr(equals + 1));
    if (!value.empty() && value.front() == '[') {
      nested_[name] = parse_nested(value.substr(1, value.rfind(']') - 1));
    } else {
      flat_[name] = unquoted(value);
    }
  }

  // Of a record in brackets, or of lines whose names begin so: GPU_1=[ Capability=…; ], GPU_1Capability=…
  std::string told_of(const std::string& owner, const std::string& prefix, const std::string& name) const {
    const auto nested = nested_.find(owner);
    const std::string own = nested == nested_.end() ? std::string() : text_of(nested->second, name);
    return own.empty() ? text_of(flat_, prefix + name) : own;
  }

  ReportedGpu gpu_of(const std::string& id) const {
    std::string owner = id;
    std::replace(owner.begin(), owner.end(), '-', '_');
    const auto told = [&](const char* name) {
      const std::string own = told_of(owner, owner, name);
      return own.empty() ? told_of("Common", "CUDA", name) : own;
    };
    ReportedGpu gpu;
    gpu.name = told("DeviceName");
    gpu.capability = told("Capability");
    gpu.driver_cuda = cuda_of(told("DriverVersion"));
    gpu.identity = told_of(owner, owner, "DeviceUuid");
    if (gpu.identity.empty()) gpu.once = file_ + "\n" + id;  // CUDA0 is another GPU on each host
    gpu.place = id;
    return gpu;
  }

  Status add_all() {
    const std::string detected = text_of(flat_, std::string(kDetected));
    if (detected.empty()) return Error{file_, "has no " + std::string(kDetected), kAgain};
    if (detected == "0") {
      fleet_.pass_over_host();
      return Done{};
    }
    for (const auto piece : split(detected, ',')) {
      const std::string id(trim(piece));
      ReportedGpu gpu = gpu_of(id);
      if (gpu.name.empty() && gpu.capability.empty())
        return Error{file_, "tells nothing of " + excerpt(id, 60), kAgain};
      ARCHGUARD_CHECK(fleet_.add(std::move(gpu)));
    }
    return Done{};
  }

  const std::string& file_;
  FleetBuilder& fleet_;
  Texts flat_;
  std::map<std::string, Texts> nested_;
};

std::vector<std::string_view> table_words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const auto word : split(line, ' '))
    if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

// Values stand behind each other, divided by blanks, and of the columns only the name may have some in it.
Status read_table(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  Lines lines(text);
  std::string_view line;
  while (lines.next(line) && trim(line).empty()) {
  }
  const auto header = table_words(line);
  for (const char* column : {"GPUs_Capability", "GPUs_DeviceName"})
    if (std::find(header.begin(), header.end(), column) == header.end())
      return Error{file + ":" + std::to_string(lines.number()),
                   std::string("the header has no column ") + column,
                   "condor_status -af:h Machine GPUs_Capability GPUs_DeviceName GPUs_DriverVersion"};
  fleet.note("HTCondor's table does not tell how many GPUs a machine has: each kind counts once per machine");
  while (lines.next(line)) {
    const auto words = table_words(line);
    if (words.empty()) continue;
    const std::string place = file + ":" + std::to_string(lines.number());
    if (words.size() < header.size())
      return Error{
          place,
          "has " + count_of(words.size(), "value") + ", the header names " + std::to_string(header.size()),
          {}};
    Texts row;
    std::size_t at = 0;
    for (const auto column : header) {
      const std::size_t length = column == "GPUs_DeviceName" ? words.size() - header.size() + 1 : 1;
      std::string value;
      for (std::size_t i = 0; i < length; ++i) value += (i > 0 ? " " : "") + std::string(words[at++]);
      row[std::string(column)] = value == "undefined" ? "" : unquoted(value);
    }
    ReportedGpu gpu;
    gpu.host = text_of(row, "Machine");
    gpu.name = text_of(row, "GPUs_DeviceName");
    gpu.capability = text_of(row, "GPUs_Capability");
    gpu.driver_cuda = cuda_of(text_of(row, "GPUs_DriverVersion"));
    gpu.place = "line " + std::to_string(lines.number());
    if (gpu.name.empty() && gpu.capability.empty()) {
      fleet.pass_over_host();
      continue;
    }
    if (!gpu.host.empty()) gpu.once = gpu.name + "\n" + gpu.capability;  // slots of one machine
    ARCHGUARD_CHECK(fleet.add(std::move(gpu)));
  }
  return Done{};
}

bool is_table(std::string_view text) {
  const std::string_view start = trim(text.substr(0, 4096));
  return start.substr(0, start.find('\n')).find("GPUs_") != std::string_view::npos;
}

}  // namespace

bool is_htcondor(std::string_view text) {
  return is_table(text) || has_line_start(text, kDetected);
}

Status read_htcondor(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  return is_table(text) ? read_table(text, file, fleet) : Discovery(file, fleet).read(text);
}

}  // namespace archguard::fleet
