#include "diff/fleet_change.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "diff/diff_report.h"
#include "report/error_json.h"
#include "report/markdown.h"
#include "report/names.h"

namespace archguard {
namespace {

enum class Move { goes, comes, stays };

Move move_of(const FleetChange::Devices& devices) {
  if (devices.before == 0) return Move::comes;
  return devices.after == 0 ? Move::goes : Move::stays;
}

std::string_view name_of(Move move) {
  return move == Move::goes ? "goes" : move == Move::comes ? "comes" : "stays";
}

// A file that does not cover the device.
struct Broken {
  const DiffFile& file;
  const DiffVerdict& verdict;
};

std::vector<Broken> broken_on(const FleetChange& change, std::size_t device) {
  std::vector<Broken> broken;
  for (const DiffFile& file : change.files.files)
    if (device < file.verdicts.size() && file.verdicts[device].coverage != Coverage::covered)
      broken.push_back({file, file.verdicts[device]});
  return broken;
}

std::string count_text(const FleetChange::Devices& devices) {
  switch (move_of(devices)) {
    case Move::comes:
      return count_of(devices.after, "device");
    case Move::goes:
      return count_of(devices.before, "device");
    case Move::stays:
      break;
  }
  return devices.before == devices.after
             ? count_of(devices.after, "device")
             : std::to_string(devices.before) + " -> " + count_of(devices.after, "device");
}

// Those that are not found everywhere.
std::vector<DiffName> names_not_all(const Broken& broken) {
  std::vector<DiffName> names;
  for (const auto& [index, runs] : broken.verdict.not_all) names.push_back(broken.file.names[index]);
  return names;
}

std::string kernel_of(const Broken& broken) {
  const std::vector<DiffName> names = names_not_all(broken);
  return names.empty() || names.front().is_variable ? std::string() : names.front().text;
}

std::string text_of_broken(const Broken& broken) {
  std::vector<std::string> parts;
  if (broken.verdict.code != 0) parts.push_back("error " + std::to_string(broken.verdict.code));
  if (!broken.verdict.what.empty()) parts.push_back(broken.verdict.what);
  if (!broken.verdict.found.empty()) parts.push_back("found " + broken.verdict.found);
  std::string text = join(parts, ": ");
  if (const std::string names = counted_names(names_not_all(broken)); !names.empty())
    text += (text.empty() ? "" : "; ") + names;
  return text;
}

std::string place_of_file(const DiffFile& file) {
  return file.member.empty() ? file.path : file.path + "(" + file.member + ")";
}

std::string verdict_of(const FleetChange& change) {
  std::size_t come = 0, bad = 0, before = 0;
  for (std::size_t i = 0; i < change.devices.size(); ++i) {
    const Move move = move_of(change.devices[i]);
    const bool broken = !broken_on(change, i).empty();
    if (move == Move::comes) {
      ++come;
      bad += broken ? 1 : 0;
    } else if (move == Move::stays && broken) {
      ++before;
    }
  }
  const std::string all = count_of(come, "new kind") + " of devices";
  std::string text = come == 0  ? "no new kind of device"
                     : bad == 0 ? "covered: all " + all
                                : "not covered: " + std::to_string(bad) + " of " + all;
  if (before != 0)
    text += "; " + count_of(before, "kind") + " in both fleets " + (before == 1 ? "was" : "were") +
            " not covered before either";
  return text;
}

bool any_comes(const FleetChange& change, bool unknown) {
  for (std::size_t i = 0; i < change.devices.size(); ++i) {
    if (move_of(change.devices[i]) != Move::comes) continue;
    for (const Broken& broken : broken_on(change, i))
      if ((broken.verdict.coverage == Coverage::unknown) == unknown) return true;
  }
  return false;
}

}  // namespace

bool breaks_something(const FleetChange& change) {
  return any_comes(change, false);
}

bool is_untold(const FleetChange& change) {
  return !change.files.errors.empty() || any_comes(change, true);
}

void write_fleet_text(const FleetChange& change, const Style& style, TextSink& sink) {
  const auto line = [&](const std::vector<Shown>& parts) { sink.write(line_of(parts)); };
  line({style.strong(change.from + " -> " + change.to)});
  for (const Move move : {Move::goes, Move::stays, Move::comes})
    for (const FleetChange::Devices& devices : change.devices)
      if (move_of(devices) == move)
        line({"  ", std::string(name_of(move)), "  ", to_string(devices.device), "  ", count_text(devices),
              ": ", devices.example});
  for (std::size_t i = 0; i < change.devices.size(); ++i) {
    const Move move = move_of(change.devices[i]);
    if (move == Move::goes) continue;
    for (const Broken& broken : broken_on(change, i)) {
      const bool unknown = broken.verdict.coverage == Coverage::unknown;
      const std::string kind = move == Move::stays ? "archguard: as before: "
                               : unknown           ? "archguard: unknown: "
                                                   : "archguard: not covered: ";
      line({move == Move::stays || unknown ? style.warning(kind) : style.error(kind),
            place_of_file(broken.file), " on ", change.devices[i].example});
      if (const std::string cause = text_of_broken(broken); !cause.empty()) line({"  cause: ", cause});
      if (!broken.verdict.fix.empty()) line({"  fix: ", broken.verdict.fix});
    }
  }
  if (!change.files.passed_over.empty())
    line({"  passed over, and may hold device code: ", join(change.files.passed_over, ", ")});
  for (const Error& error : change.files.errors) {
    line({style.error("archguard: error: "), error.text()});
    if (!error.fix.empty()) line({"  fix: ", error.fix});
  }
  const bool good = !breaks_something(change) && !is_untold(change);
  line({good ? style.good(verdict_of(change)) : style.error(verdict_of(change))});
  sink.flush();
}

void write_fleet_json(const FleetChange& change, const Style&, TextSink& sink) {
  JsonWriter json(sink);
  json.begin_object(JsonLayout::packed);
  json.message("schema", "archguard.diff/1");
  json.message("verdict", is_untold(change) ? "unknown" : breaks_something(change) ? "lost" : "kept");
  json.text("fleet_from", change.from);
  json.text("fleet_to", change.to);
  json.begin_list("devices", JsonLayout::packed_lines);
  for (std::size_t i = 0; i < change.devices.size(); ++i) {
    const FleetChange::Devices& devices = change.devices[i];
    json.begin_object(JsonLayout::packed);
    json.message("compute_capability", to_string(devices.device.capability));
    json.known_or_null("driver_cuda", devices.device.driver_cuda);
    json.text("example", devices.example);
    json.message("move", name_of(move_of(devices)));
    json.number("from", devices.before);
    json.number("to", devices.after);
    json.begin_list("files");
    for (const Broken& broken : broken_on(change, i)) {
      json.begin_object();
      json.text("path", broken.file.path);
      json.text_or_null("member", broken.file.member);
      json.message("verdict", name_of(broken.verdict.coverage));
      if (broken.verdict.code != 0)
        json.number("code", broken.verdict.code);
      else
        json.null("code");
      json.text_or_null("cause", broken.verdict.what);
      json.text_or_null("found", broken.verdict.found);
      json.text_or_null("kernel", kernel_of(broken));
      json.text_or_null("fix", broken.verdict.fix);
      json.end();
    }
    json.end();
    json.end();
  }
  json.end();
  json.texts("passed_over", change.files.passed_over);
  json.begin_list("errors", JsonLayout::packed_lines);
  for (const Error& error : change.files.errors) {
    json.begin_object(JsonLayout::packed);
    write_members(error, json);
    json.end();
  }
  json.end();
  json.end();
  sink.flush();
}

void write_fleet_markdown(const FleetChange& change, const Style&, TextSink& sink) {
  const auto line = [&](const std::string& text) { sink.write(text + "\n"); };
  line("### " + markdown_escape(verdict_of(change)));
  line("");
  line("| devices | | how many | not covered |");
  line("|---|---|---|---|");
  for (std::size_t i = 0; i < change.devices.size(); ++i) {
    const FleetChange::Devices& devices = change.devices[i];
    std::vector<std::string> files;
    for (const Broken& broken : broken_on(change, i))
      files.push_back(markdown_escape(place_of_file(broken.file) + ": " + text_of_broken(broken)));
    line("| " + markdown_escape(devices.example) + " | " + std::string(name_of(move_of(devices))) + " | " +
         count_text(devices) + " | " + join(files, "<br>") + " |");
  }
  for (const std::string& path : change.files.passed_over)
    line("- passed over, and may hold device code: " + markdown_escape(path));
  for (const Error& error : change.files.errors) line("- error: " + markdown_escape(error.text()));
  sink.flush();
}

}  // namespace archguard
