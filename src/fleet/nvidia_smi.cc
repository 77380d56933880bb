// What nvidia-smi prints: -L, -q -x (nvidia_smi_xml.cc) and tables without compute_cap, of drivers up to
// R470.
#include "base/printable.h"
#include "base/text.h"
#include "device/fleet.h"
#include "fleet/sources.h"

namespace archguard::fleet {
namespace {

// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-…)"
bool is_gpu_line(std::string_view line) {
  if (!starts_with(line, "GPU ")) return false;
  const auto colon = line.find(": ");
  return colon != std::string_view::npos && parse_number(line.substr(4, colon - 4), 1'000'000).has_value();
}

Status read_gpu_list(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  Lines lines(text);
  ReportedGpu gpu;
  const auto add = [&]() -> Status {
    if (gpu.place.empty()) return Done{};
    Status added = fleet.add(gpu);
    gpu = {};
    return added;
  };
  for (std::string_view line; lines.next(line);) {
    const std::string_view text_of_line = trim(line);
    if (text_of_line.empty()) continue;
    if (starts_with(text_of_line, "MIG ")) {  // an instance of the GPU above
      gpu.mig = true;
      continue;
    }
    ARCHGUARD_CHECK(add());
    if (!is_gpu_line(text_of_line))
      return Error{file + ":" + std::to_string(lines.number()),
                   "expected 'GPU 0: NAME (UUID: …)', found '" + excerpt(text_of_line, 60) + "'",
                   "nvidia-smi -L"};
    std::string_view name = text_of_line.substr(text_of_line.find(": ") + 2);
    if (const auto uuid = name.rfind(" (UUID: "); uuid != std::string_view::npos) {
      gpu.identity = std::string(name.substr(uuid + 8));
      if (!gpu.identity.empty() && gpu.identity.back() == ')') gpu.identity.pop_back();
      name = name.substr(0, uuid);
    }
    gpu.name = std::string(trim(name));
    gpu.place = "line " + std::to_string(lines.number());
  }
  return add();
}

}  // namespace

bool is_nvidia_smi(std::string_view text) {
  const std::string_view start = trim(text.substr(0, 4096));
  return is_gpu_line(start.substr(0, start.find('\n'))) ||
         start.find("<nvidia_smi_log") != std::string_view::npos;
}

Status read_nvidia_smi(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  const std::string_view start = trim(text.substr(0, 4096));
  if (starts_with(start, "<")) return read_nvidia_smi_xml(text, file, fleet);
  if (starts_with(start, "GPU ")) return read_gpu_list(text, file, fleet);
  return read_csv(text, file, fleet);
}

Status read_csv(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  ARCHGUARD_TRY(devices, parse_gpu_table(text, file));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device device = devices[i];
    ReportedGpu gpu;
    gpu.name = device.name;
    if (device.capability) gpu.capability = to_string(*device.capability);
    gpu.driver_version = device.driver_version;
    if (device.driver_cuda && !device.cuda_by_branch) gpu.driver_cuda = to_string(*device.driver_cuda);
    gpu.identity = device.uuid;
    gpu.host = device.host.value_or("");
    gpu.mig = device.mig;
    gpu.excluded = device.excluded;
    gpu.count = static_cast<std::uint64_t>(device.count);
    gpu.place = "line " + device.origin.substr(device.origin.rfind(':') + 1);
    if (!device.visible) {
      fleet.note(gpu, "not visible there, and not listed");
      continue;
    }
    ARCHGUARD_CHECK(fleet.add(std::move(gpu)));
  }
  if (devices.empty()) return no_device_in_fleet(file);
  return Done{};
}

}  // namespace archguard::fleet
