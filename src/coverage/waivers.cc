#include "coverage/waivers.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "base/text.h"
#include "device/csv.h"
#include "image/demangle.h"

namespace archguard {
namespace {

using Fields = std::vector<std::string>;

const Fields kHeader{"kernel", "compute_cap", "reason"};
constexpr const char* kReasonToWrite = "why it may be absent";
// Bytes of what a message quotes, and of a line to copy: names of templates are long.
constexpr std::size_t kWaiverMostShown = 200, kMostOfLine = 2000;

// Is it X.Y, or a glob that some X.Y matches? What no device can have never waives anything.
bool is_capability_glob(std::string_view text) {
  constexpr int kLastMajor = 99, kLastMinor = 9;
  for (ComputeCapability each; each.major <= kLastMajor; ++each.major)
    for (each.minor = 0; each.minor <= kLastMinor; ++each.minor)
      if (glob_matches(text, to_string(each))) return true;
  return false;
}

std::string waiver_csv_line(const std::string& kernel, const std::string& compute_cap,
                            const std::string& reason) {
  return csv_field(kernel) + "," + compute_cap + "," + reason;
}

bool names_column(const Fields& fields, const std::string& column) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const std::string& field) { return to_lower(field) == column; });
}

// A kernel may be called `kernel`, and a reason may be anything.
bool is_header(const Fields& fields) {
  if (fields.size() > 1 && is_capability_glob(fields[1])) return false;
  return names_column(fields, kHeader[1]) ||
         (to_lower(fields[0]) == kHeader[0] && fields.size() > 1 && !fields[1].empty());
}

Error wrong_header(const Fields& fields, const std::string& origin) {
  return {
      origin,
      "the header is '" + excerpt(join(fields, ","), kWaiverMostShown) + "', expected " + join(kHeader, ","),
      names_column(fields, kHeader[0]) ? "write that header, or none"
                                       : "a list of devices goes to --fleet, not to --waivers"};
}

// `second(float*, int),9.0,why` without quotes: the name went on into the next columns, up to the first one
// that can be a compute capability.
std::optional<std::string> quoted_line(const Fields& fields) {
  const bool opens = fields[0].find_first_of("(<") != std::string::npos;
  const auto capability = std::find_if(fields.begin() + 1, fields.end(), is_capability_glob);
  if (!opens || capability == fields.end()) return std::nullopt;
  const std::string reason = join({capability + 1, fields.end()}, ", ");
  return waiver_csv_line(join({fields.begin(), capability}, ", "), *capability,
                         reason.empty() ? kReasonToWrite : reason);
}

Error wrong_capability(const Fields& fields, const std::string& origin) {
  const auto line = quoted_line(fields);
  return {
      origin,
      "the compute capability '" + excerpt(fields[1], kWaiverMostShown) + "' is neither X.Y nor a glob of it",
      line ? "put a name that holds a comma in double quotes: " + excerpt(*line, kMostOfLine)
           : "write 7.5, 8.* or * for every device; put a name with a comma in double quotes"};
}

// Commas in the reason need no quotes: what follows the second column is the reason.
Result<Waiver> waiver_in(const Fields& fields, const std::string& origin) {
  if (is_header(fields)) return wrong_header(fields, origin);
  if (fields.size() < kHeader.size())
    return Error{origin, "a waiver has three columns, " + join(kHeader, ","),
                 "write for example: my_kernel*,7.5,needs tensor cores"};
  Waiver waiver{with_closed_brackets(fields[0]), fields[1], join({fields.begin() + 2, fields.end()}, ", "),
                origin};
  if (waiver.kernel.empty())
    return Error{origin, "the kernel is empty",
                 "write a kernel's name as the report shows it, or a glob of it"};
  if (waiver.compute_cap.empty())
    return Error{origin, "the compute capability is empty", "write 7.5, or * for every device"};
  if (!is_capability_glob(waiver.compute_cap)) return wrong_capability(fields, origin);
  if (waiver.reason.empty())
    return Error{origin, "a waiver needs a reason",
                 "say in the third column why '" + waiver.kernel + "' may be absent"};
  return waiver;
}

// A kernel's two names: as the file has it, and as reports show it.
struct KernelNames {
  explicit KernelNames(const std::string& name) : mangled(name), shown(demangle(name)) {}
  bool match(std::string_view glob) const { return glob_matches(glob, mangled) || glob_matches(glob, shown); }

  const std::string& mangled;
  const std::string shown;
};

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
    waivers.entries_.push_back({std::move(waiver)});
  }
  return waivers;
}

// Names are demangled only as long as some waiver waits for its kernel.
void Waivers::note(const std::string& kernel) {
  const auto waits = [](const FatbinEntry& entry) { return !entry.kernel_read; };
  if (std::none_of(entries_.begin(), entries_.end(), waits)) return;
  const KernelNames names(kernel);
  for (FatbinEntry& entry : entries_)
    if (waits(entry)) entry.kernel_read = names.match(entry.waiver.kernel);
}

bool Waivers::is_for(const FatbinEntry& entry, ComputeCapability device) {
  return glob_matches(entry.waiver.compute_cap, to_string(device));
}

bool Waivers::waive(const std::string& kernel, ComputeCapability device) {
  if (entries_.empty()) return false;
  const KernelNames names(kernel);
  bool waived = false;
  for (FatbinEntry& entry : entries_) {
    if (!is_for(entry, device) || !names.match(entry.waiver.kernel)) continue;
    entry.used = true;
    waived = true;
  }
  return waived;
}

bool Waivers::is_waived(const std::string& kernel, ComputeCapability device) const {
  if (entries_.empty()) return false;
  const KernelNames names(kernel);
  return std::any_of(entries_.begin(), entries_.end(), [&](const FatbinEntry& entry) {
    return is_for(entry, device) && names.match(entry.waiver.kernel);
  });
}

void Waivers::leave_open(const std::string& kernel, ComputeCapability device) {
  const auto asks = [&](const FatbinEntry& entry) {
    return !entry.used && !entry.open && is_for(entry, device);
  };
  if (std::none_of(entries_.begin(), entries_.end(), asks)) return;
  const KernelNames names(kernel);
  for (FatbinEntry& entry : entries_)
    if (asks(entry)) entry.open = names.match(entry.waiver.kernel);
}

std::vector<UnusedWaiver> Waivers::unused() const {
  std::vector<UnusedWaiver> unused;
  for (const FatbinEntry& entry : entries_)
    if (!entry.used && !entry.open) unused.push_back({entry.waiver, entry.kernel_read});
  return unused;
}

std::string waiver_line(const std::string& kernel, ComputeCapability device,
                        const std::vector<std::string>& missing) {
  const std::string shown = demangle(kernel);
  const bool is_glob = shown.find_first_of("*?") != std::string::npos;
  const bool waives_more =
      is_glob && std::any_of(missing.begin(), missing.end(), [&](const std::string& other) {
        return other != kernel && KernelNames(other).match(shown);
      });
  return waiver_csv_line(waives_more ? kernel : shown, to_string(device), kReasonToWrite);
}

}  // namespace archguard
