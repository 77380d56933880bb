#include "coverage/waivers.h"

#include "base/text.h"

namespace archguard {
namespace {

constexpr std::string_view kHeader = "kernel,compute_cap,reason";

// The first two columns hold no comma, so the reason is the rest of the line and needs no quotes.
Result<Waiver> parse_line(std::string_view line, const std::string& origin) {
  const auto first = line.find(',');
  const auto second = first == std::string_view::npos ? first : line.find(',', first + 1);
  if (second == std::string_view::npos)
    return Error{origin, "a waiver has three columns, " + std::string(kHeader),
                 "write for example: my_kernel*,7.5,needs tensor cores"};
  Waiver waiver{std::string(trim(line.substr(0, first))),
                std::string(trim(line.substr(first + 1, second - first - 1))),
                std::string(trim(line.substr(second + 1))), origin};
  if (waiver.kernel.empty()) return Error{origin, "the kernel is empty", "write a mangled name or a glob"};
  if (waiver.compute_cap.empty())
    return Error{origin, "the compute capability is empty", "write 7.5, or * for every device"};
  if (waiver.reason.empty())
    return Error{origin, "a waiver needs a reason",
                 "say in the third column why '" + waiver.kernel + "' may be absent"};
  return waiver;
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

Result<Waivers> Waivers::parse(std::string_view text, const std::string& path) {
  Waivers waivers;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line[0] == '#' || line == kHeader) continue;
    ARCHGUARD_TRY(waiver, parse_line(line, path + ":" + std::to_string(number)));
    waivers.waivers_.push_back(std::move(waiver));
  }
  waivers.used_.resize(waivers.waivers_.size());
  return waivers;
}

bool Waivers::waive(const std::string& kernel, ComputeCapability device) {
  bool waived = false;
  for (std::size_t i = 0; i < waivers_.size(); ++i) {
    if (!glob_matches(waivers_[i].compute_cap, to_string(device)) ||
        !glob_matches(waivers_[i].kernel, kernel))
      continue;
    used_[i] = true;
    waived = true;
  }
  return waived;
}

std::vector<Waiver> Waivers::unused() const {
  std::vector<Waiver> unused;
  for (std::size_t i = 0; i < waivers_.size(); ++i)
    if (!used_[i]) unused.push_back(waivers_[i]);
  return unused;
}

}  // namespace archguard
