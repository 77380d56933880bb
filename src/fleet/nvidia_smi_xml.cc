// `nvidia-smi -q -x` (nvsmi_device_v12.dtd, v13.dtd): product_name, uuid and mig_mode of each gpu,
// driver_version, cuda_version and attached_gpus of the machine. It tells no compute capability.
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "fleet/expat.h"
#include "fleet/sources.h"

namespace archguard::fleet {
namespace {

class XmlReader {
 public:
  void begin(const char* name, const char** attributes) {
    path_.emplace_back(name);
    text_.clear();
    if (path_.size() == 2 && path_[1] == "gpu") {
      gpus_.emplace_back();
      for (; attributes[0] != nullptr; attributes += 2)
        if (std::string_view(attributes[0]) == "id") gpus_.back().place = std::string("gpu ") + attributes[1];
    }
  }

  void text(std::string_view piece) {
    if (path_.size() >= 2 && text_.size() < kMostText) text_ += piece;
  }

  void end() {
    const std::string text(trim(text_));
    const bool known = text != "N/A" && text != "Not Found" && !starts_with(text, "[");
    if (path_.size() == 2 && known) {
      if (path_[1] == "driver_version") driver_version_ = text;
      if (path_[1] == "cuda_version") driver_cuda_ = text;
      if (path_[1] == "attached_gpus") attached_ = parse_number(text, kMostAttached).value_or(0);
    } else if (path_.size() >= 3 && path_[1] == "gpu" && known) {
      ReportedGpu& gpu = gpus_.back();
      if (path_.size() == 3 && path_[2] == "product_name") gpu.name = text;
      if (path_.size() == 3 && path_[2] == "uuid") gpu.identity = text;
      if (path_.size() == 4 && path_[3] == "current_mig") gpu.mig = text == "Enabled";
    }
    text_.clear();
    path_.pop_back();
  }

  Status add_to(FleetBuilder& fleet, const std::string& file) {
    if (gpus_.empty()) return Error{file, "names no gpu", "nvidia-smi -q -x"};
    if (gpus_.size() < attached_)  // nvidia-smi -i, or a part that was cut out
      fleet.note(file + ": " + std::to_string(gpus_.size()) + " of the " + std::to_string(attached_) +
                 " GPUs of that machine are described, and no other is listed: nvidia-smi -q -x tells all");
    for (ReportedGpu& gpu : gpus_) {
      if (gpu.name.empty()) return Error{file + ": " + gpu.place, "has no product_name", "nvidia-smi -q -x"};
      gpu.driver_version = driver_version_;
      gpu.driver_cuda = driver_cuda_;
      ARCHGUARD_CHECK(fleet.add(std::move(gpu)));
    }
    return Done{};
  }

 private:
  static constexpr std::size_t kMostText = 4096;
  static constexpr std::uint64_t kMostAttached = 1'000'000;

  std::vector<std::string> path_;
  std::string text_, driver_version_, driver_cuda_;
  std::uint64_t attached_ = 0;
  std::vector<ReportedGpu> gpus_;
};

}  // namespace

Status read_nvidia_smi_xml(std::string_view text, const std::string& file, FleetBuilder& fleet) {
  XmlReader reader;
  const XmlHandler handler{[&](const char* name, const char** attributes) { reader.begin(name, attributes); },
                           [&](const char*) { reader.end(); },
                           [&](std::string_view piece) { reader.text(piece); }};
  ARCHGUARD_CHECK(read_xml(text, file, handler));
  return reader.add_to(fleet, file);
}

}  // namespace archguard::fleet
