#include "report/package_sums.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::size_t kFailingShown = 10;

struct PackageSum {
  std::string name;  // "package torch 2.7.1 (pip)"
  OutcomeCounts counts;

  bool fails() const { return counts.not_covered + counts.unknown != 0; }
};

// In the order of their first files, what belongs to none last.
std::vector<PackageSum> sums_of(const Verification& verification) {
  std::vector<PackageSum> sums;
  std::map<std::string, std::size_t> known;
  OutcomeCounts of_none;
  for (const FileResult& file : verification.files) {
    const Outcome outcome = outcome_of(verification, file);
    if (file.alternative || outcome == Outcome::no_device_code) continue;
    if (!file.package) {
      of_none.add(outcome);
      continue;
    }
    const std::string name = to_string(*file.package);
    const auto [at, is_new] = known.try_emplace(name, sums.size());
    if (is_new) sums.push_back({"package " + name, {}});
    sums[at->second].counts.add(outcome);
  }
  if (!sums.empty() && of_none.total() != 0) sums.push_back({"no package", of_none});
  return sums;
}

}  // namespace

void OutcomeCounts::add(Outcome outcome) {
  covered += outcome == Outcome::covered ? 1 : 0;
  not_covered += outcome == Outcome::not_covered ? 1 : 0;
  unknown += outcome == Outcome::unknown ? 1 : 0;
}

std::vector<Shown> shown(const OutcomeCounts& counts, Style style) {
  std::vector<Shown> parts;
  const auto add = [&](std::size_t count, const char* what, bool good) {
    if (count == 0) return;
    if (!parts.empty()) parts.emplace_back(", ");
    const std::string text = std::to_string(count) + what;
    parts.push_back(good ? style.good(text) : style.error(text));
  };
  add(counts.covered, " covered", true);
  add(counts.not_covered, " not covered", false);
  add(counts.unknown, " unknown", false);
  return parts;
}

std::string package_sums(const Verification& verification, Style style, bool full) {
  std::vector<PackageSum> sums = sums_of(verification);
  std::stable_partition(sums.begin(), sums.end(), [](const PackageSum& sum) { return sum.fails(); });
  const auto failing = static_cast<std::size_t>(
      std::count_if(sums.begin(), sums.end(), [](const auto& sum) { return sum.fails(); }));
  std::string text;
  const auto write = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    OutcomeCounts counts;
    for (std::size_t i = begin; i < end; ++i) {
      counts.covered += sums[i].counts.covered;
      counts.not_covered += sums[i].counts.not_covered;
      counts.unknown += sums[i].counts.unknown;
    }
    std::vector<Shown> parts = {sums[begin].name};
    if (end - begin > 1) parts.emplace_back(" and " + std::to_string(end - begin - 1) + " more");
    parts.emplace_back(": ");
    for (Shown& part : shown(counts, style)) parts.push_back(std::move(part));
    text += line_of(parts);
  };
  const std::size_t alone =
      full ? sums.size() : std::min(failing, failing > kFailingShown + 1 ? kFailingShown : failing);
  for (std::size_t i = 0; i < alone; ++i) write(i, i + 1);
  write(alone, std::max(alone, failing));
  write(std::max(alone, failing), sums.size());
  return text;
}

}  // namespace archguard
