#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands.h"

namespace archguard {

// Devices of one name that a selection leaves out for one reason.
struct LeftOutModel {
  Device first;
  std::string reason;
  std::uint64_t count = 0;
};

struct LeftOut {
  std::vector<LeftOutModel> models;  // in the order of their first devices, a thousand at most
  std::uint64_t others = 0;          // devices of further models
};

LeftOut left_out_models(const SelectReport& report);

// Devices of one name that a list does not cover, and of which it tells the same; in their order, a thousand
// at most.
struct MissedModel {
  Device first;
  const ListJudgement* judgement;  // of the report
  std::uint64_t count = 0;
};
std::vector<MissedModel> missed_models(const SelectReport& report);

}  // namespace archguard
