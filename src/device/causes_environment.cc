#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "device/causes.h"
#include "device/failure_words.h"

namespace archguard {

// CUDA takes the entries up to the first that names no device, so an empty value or a leading -1 hides all
// (CUDA Programming Guide, "CUDA Environment Variables").
bool hides_all(const std::string& cuda_visible_devices) {
  const auto first = trim(split(cuda_visible_devices, ',').front());
  return first.empty() || first[0] == '-' || first == "NoDevFiles";
}

Diagnostic hidden_by_environment(Diagnostic diagnostic, const FailureFacts& facts) {
  diagnostic.stage = "environment";
  diagnostic.cause = "CUDA_VISIBLE_DEVICES is " + value_text(facts.around.cuda_visible_devices.value_or("")) +
                     " and hides every GPU" + seen_by_nvml(facts);
  diagnostic.fix = "unset CUDA_VISIBLE_DEVICES";
  return diagnostic;
}

std::optional<Diagnostic> order_is_unknown(const Surroundings& around) {
  const auto& order = around.cuda_device_order;
  if (!order || *order == "FASTEST_FIRST" || *order == "PCI_BUS_ID") return std::nullopt;
  return Diagnostic{"environment", std::nullopt, "",
                    "CUDA_DEVICE_ORDER is " + value_text(*order) + ", which CUDA does not know",
                    "set it to FASTEST_FIRST or PCI_BUS_ID"};
}

std::vector<Diagnostic> explain_environment(const Surroundings& around) {
  std::vector<Diagnostic> found;
  // Numbers, UUIDs of GPUs and of MIG instances, and the two that people hide everything with.
  const std::string visible = around.cuda_visible_devices.value_or("");
  for (const auto entry : split(visible, ',')) {
    const std::string_view name = trim(entry);
    if (starts_with(name, "GPU-") || starts_with(name, "MIG-") || name == "NoDevFiles") continue;
    // Of what begins with a number the driver takes that, "0abc" and "0;1" for 0 (recorded on CUDA 13.0).
    const std::size_t sign = starts_with(name, "+") || starts_with(name, "-") ? 1 : 0;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", sign), name.size());
    const bool number = end > sign;
    if (name.empty() || (number && end == name.size())) continue;
    found.push_back({"environment", std::nullopt, "",
                     "'" + printable(name) + "' in CUDA_VISIBLE_DEVICES is no device, and CUDA " +
                         (number ? "takes the number that it begins with" : "reads no further"),
                     "name devices by number or as GPU-… and MIG-…, between commas"});
    break;
  }
  if (auto unknown = order_is_unknown(around)) found.push_back(*std::move(unknown));
  return found;
}

}  // namespace archguard
