#include "coverage/waivers.h"

#include "base/text.h"
#include "device/csv.h"

namespace archguard {
namespace {

const std::vector<std::string> kHeader{"kernel", "compute_cap", "reason"};

// Commas in the reason need no quotes: what follows the second column is the reason.
Result<Waiver> waiver_in(const std::vector<std::string>& fields, const std::string& origin) {
  if (fields.size() < kHeader.size())
    return Error{origin, "a waiver has three columns, " + join(kHeader, ","),
                 "write for example: my_kernel*,7.5,needs tensor cores"};
  Waiver waiver{fields[0], fields[1], join({fields.begin() + 2, fields.end()}, ", "), origin};
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
  CsvReader reader(text, path);
  for (CsvRow row;;) {
    ARCHGUARD_TRY(more, reader.next(row));
    if (!more) break;
    if (row.fields == kHeader) continue;
    ARCHGUARD_TRY(waiver, waiver_in(row.fields, path + ":" + std::to_string(row.line)));
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
