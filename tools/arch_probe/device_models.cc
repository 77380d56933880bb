#include "device_models.h"

#include <map>
#include <tuple>
#include <utility>

namespace archguard {

namespace {

constexpr std::size_t kModelsMost = 1000;

}  // namespace

LeftOut left_out_models(const SelectReport& report) {
  LeftOut left_out;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (const std::size_t index : report.selection.excluded) {
    const Device device = report.devices[index];
    const std::string& reason = report.selection.why_excluded[report.devices.kind_number(index)].reason;
    // A reason of the fleet's own may read like one of the selection.
    const std::string kind =
        (device.capability ? to_string(*device.capability) : "") + (is_wanted(device) ? "" : "!");
    const auto key = std::make_tuple(device.name, kind, reason);
    auto model = known.find(key);
    if (model == known.end() && left_out.models.size() == kModelsMost) {
      left_out.others += static_cast<std::uint64_t>(device.count);
      continue;
    }
    if (model == known.end()) {
      model = known.emplace(key, left_out.models.size()).first;
      left_out.models.push_back({device, reason, 0});
    }
    left_out.models[model->second].count += static_cast<std::uint64_t>(device.count);
  }
  return left_out;
}

std::vector<MissedModel> missed_models(const SelectReport& report) {
  std::vector<MissedModel> models;
  std::map<std::pair<std::string, std::size_t>, std::size_t> known;
  for (std::size_t i = 0; i < report.devices.size() && !report.judged.empty(); ++i) {
    if (!is_wanted(report.devices.kind(i))) continue;
    const std::size_t kind = report.devices.kind_number(i);
    const ListJudgement& judgement = report.judged[kind];
    if (judgement.verdict == ListVerdict::sass || judgement.verdict == ListVerdict::jit) continue;
    const Device device = report.devices[i];
    const auto key = std::make_pair(device.name, kind);
    auto model = known.find(key);
    if (model == known.end()) {
      if (models.size() == kModelsMost) continue;
      model = known.emplace(key, models.size()).first;
      models.push_back({device, &judgement, 0});
    }
    models[model->second].count += static_cast<std::uint64_t>(device.count);
  }
  return models;
}

}  // namespace archguard
