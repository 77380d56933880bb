#include "report/left_out.h"

#include <cstdint>
#include <map>
#include <tuple>

#include "base/printable.h"
#include "base/text.h"

namespace archguard {

std::string left_out_text(const DeviceList& devices) {
  struct Kind {
    Device first;
    std::uint64_t count = 0;
  };
  std::vector<Kind> kinds;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_wanted(devices.kind(i))) continue;
    const Device device = devices[i];
    const std::string capability = device.capability ? to_string(*device.capability) : "";
    const auto [kind, is_new] =
        known.try_emplace({device.name, capability, why_left_out(device)}, kinds.size());
    if (is_new) kinds.push_back({device, 0});
    kinds[kind->second].count += static_cast<std::uint64_t>(device.count);
  }
  std::string text;
  for (const Kind& kind : kinds) {
    text += "archguard: note: not judged: " + describe(kind.first) + more_like_it(kind.count) + ": " +
            printable(why_left_out(kind.first)) + "\n";
  }
  return text;
}

}  // namespace archguard
