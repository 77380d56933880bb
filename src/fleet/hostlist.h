#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace archguard::fleet {

// What one import may still make of ranges: "node[1-1000000]" is fifteen letters for a million hosts.
struct HostBudget {
  std::uint64_t hosts = 1'000'000;
  std::uint64_t bytes = std::uint64_t{64} << 20;
};

// Takes `hosts` new ones of `bytes` in all from what is left. `text` names them in the error.
Status take_hosts(HostBudget& left, std::uint64_t hosts, std::uint64_t bytes, std::string_view text);

// Slurm's lists of hosts: "node[01-04,7],login" names six. What is written out costs nothing; the error has
// no place.
Result<std::vector<std::string>> parse_hostlist(std::string_view text, HostBudget& left);

}  // namespace archguard::fleet
