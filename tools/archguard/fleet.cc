#include "fleet.h"

#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "commands.h"
#include "device/fleet.h"
#include "fleet/gaps.h"
#include "fleet/sources.h"
#include "terminal.h"

namespace archguard {
namespace {

constexpr std::size_t kMostSourceBytes = std::size_t{2} << 30;
constexpr int kExitComplete = 0;
constexpr int kExitGaps = 1;

std::uint64_t gpus_of(const DeviceList& devices) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) count += static_cast<std::uint64_t>(devices.count(i));
  return count;
}

Error fleet_goes_to_output(const FleetImportOptions& options) {
  std::string line = "archguard fleet import";
  if (!options.from.empty()) line += " --from " + options.from;
  if (options.hosts) line += " --hosts";
  for (const std::string& file : options.files) line += " " + (file == "-" ? file : quoted_for_shell(file));
  return {{}, "the fleet goes to standard output", line + " > " + quoted_for_shell(options.output)};
}

}  // namespace

Result<int> run_fleet_import(const FleetImportOptions& options) {
  if (!options.output.empty()) return fleet_goes_to_output(options);
  fleet::FleetBuilder builder(options.hosts);
  std::set<std::string> seen;
  for (const std::string& path : options.files) {
    if (!seen.insert(path).second) continue;
    ARCHGUARD_TRY(text, read_text_file(path, kMostSourceBytes));
    ARCHGUARD_CHECK(fleet::import_text(text, printable(text_file_name(path)), options.from, builder));
  }
  const DeviceList devices = builder.devices();
  if (devices.empty())
    return Error{
        {}, "no GPU is told of", "look whether these are the right nodes, and whether their drivers run"};
  PrintingSink sink;
  FleetText(devices, FleetColumns::told).write_to(sink);
  sink.flush();
  ARCHGUARD_CHECK(finish_printing());
  std::string notes;
  for (const std::string& note : builder.notes()) notes += "archguard: note: " + note + "\n";
  print_messages(notes);
  return kExitComplete;
}

Result<int> run_fleet_check(const FleetCheckOptions& options) {
  DeviceList devices;
  for (const std::string& path : options.files) {
    ARCHGUARD_TRY(read, read_fleet(path, devices, {}));
    if (read == 0) return no_device_in_fleet(path);
  }
  const auto gaps = fleet::gaps_of(devices);
  std::string text;
  for (const fleet::FleetGap& gap : gaps) {
    const std::size_t more = gap.lines - gap.devices.size();
    text += gap.what + ": " + join(gap.devices, ", ") +
            (more == 0 ? "" : " and " + count_of(more, "more line")) + "\n  " + gap.consequence +
            "\n  fix: " + gap.fix + "\n";
  }
  text += (gaps.empty() ? "complete" : count_of(gaps.size(), "gap")) + ": " +
          count_of(devices.size(), "line") + ", " + count_of(gpus_of(devices), "GPU") + "\n";
  print(text);
  ARCHGUARD_CHECK(finish_printing());
  return gaps.empty() ? kExitComplete : kExitGaps;
}

}  // namespace archguard
