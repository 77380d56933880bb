#include "image/ptx_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kFollowing = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
constexpr std::string_view kFirstOfMore = "_$%";  // that are no name by themselves

// PTX ISA, "Special Registers", without `%`; numbered ones have their numbers behind them. ptxas 11.8 to 13.5
// take none of them for a name but the last two, which came with 12.0.
constexpr std::string_view kRegisters[] = {
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "dynamic_smem_size",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "aggr_smem_size",
    "current_graph_exec",
};
struct Numbered {
  std::string_view name, end;
  int count;
};
constexpr Numbered kNumbered[] = {
    {"envreg", "", 32}, {"pm", "", 8}, {"pm", "_64", 8}, {"reserved_smem_offset_", "", 2}};

bool is_identifier(std::string_view name) {
  if (name.empty() || name == "WARP_SZ") return false;
  if (kFirstOfMore.find(name[0]) != std::string_view::npos ? name.size() == 1
                                                           : kLetters.find(name[0]) == std::string_view::npos)
    return false;
  return name.find_first_not_of(kFollowing, 1) == std::string_view::npos;
}

bool is_register(std::string_view name) {
  if (name.empty() || name[0] != '%') return false;
  name.remove_prefix(1);
  if (std::find(std::begin(kRegisters), std::end(kRegisters), name) != std::end(kRegisters)) return true;
  return std::any_of(std::begin(kNumbered), std::end(kNumbered), [&](const Numbered& each) {
    if (!starts_with(name, each.name) || name.size() < each.name.size() + each.end.size()) return false;
    const std::string_view rest = name.substr(each.name.size());
    const std::string_view digits = rest.substr(0, rest.size() - each.end.size());
    if (rest.substr(digits.size()) != each.end || (digits.size() > 1 && digits[0] == '0')) return false;
    const auto number = parse_number(digits, 99);
    return number && *number < static_cast<std::uint64_t>(each.count);
  });
}

Error no_name(std::string_view name) {
  return Error{{}, "PTX has the name '" + std::string(name.substr(0, 40)) + "', which no compiler takes", {}};
}

}  // namespace

Status check_ptx_name(std::string_view name) {
  if (is_identifier(name) && !is_register(name)) return Done{};
  return no_name(name);
}

Status check_ptx_parameter_name(std::string_view name, bool of_kernel) {
  if (is_identifier(name) || (of_kernel && name == "_")) return Done{};
  return no_name(name);
}

}  // namespace archguard
