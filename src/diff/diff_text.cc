#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "base/printable.h"
#include "base/text.h"
#include "diff/diff_report.h"
#include "image/demangle.h"
#include "report/names.h"

namespace archguard {
namespace {

constexpr std::size_t kPathsNamed = 5;   // that are new, or gone
constexpr std::size_t kLossesNamed = 3;  // that lose the same
constexpr std::size_t kNameMost = 80;    // columns of a kernel's name

std::string file_text(const DiffFile& file) {
  if (!file.key.empty()) return file.key;
  return file.member.empty() ? file.path : file.path + "(" + file.member + ")";
}

std::string percent_text(double percent) {
  return fmt::format("{}{:.1f} %", percent > 0 ? "+" : "", percent);
}

std::string list_text(const std::vector<std::string>& names, std::size_t most = kPathsNamed) {
  const std::size_t shown = std::min(names.size(), most);
  std::string text = join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (shown < names.size()) text += " and " + count_of(names.size() - shown, "more file");
  return text;
}

std::string inflated_text(std::uint64_t was, std::uint64_t is) {
  const std::string before = human_size(was), after = human_size(is);
  return before == after ? after : before + " -> " + after;
}

void write_table(const Difference& difference, TextSink& sink) {
  const DiffSizes before = sizes_of(difference.before), after = sizes_of(difference.after);
  std::set<std::pair<EntryKind, Arch>> images;
  for (const auto& [image, size] : before) images.insert(image);
  for (const auto& [image, size] : after) images.insert(image);
  const auto row = [&](const std::string& arch, std::string_view kind, const DiffSize& was,
                       const DiffSize& is) {
    sink.write(fmt::format("  {:<6} {:<9} {:>18} {:>20}  {:<28} {}\n", arch, kind,
                           change_text(was.images, is.images), change_text(was.kernels, is.kernels),
                           size_change_text(was.stored, is.stored),
                           inflated_text(was.uncompressed, is.uncompressed)));
  };
  sink.write(fmt::format("  {:<6} {:<9} {:>18} {:>20}  {:<28} {}\n", "arch", "kind", "images", "kernels",
                         "stored", "inflated"));
  const auto of = [](const DiffSizes& sizes, const std::pair<EntryKind, Arch>& image) {
    const auto found = sizes.find(image);
    return found == sizes.end() ? DiffSize{} : found->second;
  };
  for (const auto& image : images)
    row(to_string(image.second), name_of(image.first), of(before, image), of(after, image));
  row("total", "", total_of(before), total_of(after));
}

void write_errors(const DiffSide& side, const Style& style, TextSink& sink) {
  for (const Error& error : side.errors) {
    sink.write(line_of({style.error("archguard: error: "), error.text()}));
    if (!error.fix.empty()) sink.write(line_of({"  fix: ", error.fix}));
  }
}

}  // namespace

const std::vector<DiffFormat>& diff_formats() {
  static const std::vector<DiffFormat> formats = {
      {"text", true, write_diff_text, write_fleet_text},
      {"json", false, write_diff_json, write_fleet_json},
      {"markdown", true, write_diff_markdown, write_fleet_markdown}};
  return formats;
}

std::string scope_hint(const Difference& difference) {
  const auto is_partial = [](const CoverageLoss& loss) {
    return loss.how == CoverageLoss::How::falls && !loss.was_covered;  // of a file
  };
  if (difference.after.scope == "library" ||
      std::none_of(difference.losses.begin(), difference.losses.end(), is_partial))
    return {};
  return "if this library picks its images at run time, as NVIDIA's do, judge it as a whole: --scope library";
}

std::string names_text(const Difference& difference) {
  const std::string before(file_name(difference.before.name)), after(file_name(difference.after.name));
  if (before == after || before.empty() || after.empty())
    return difference.before.name + " -> " + difference.after.name;
  return before + " -> " + after;
}

std::string_view name_of(CoverageLoss::How how) {
  switch (how) {
    case CoverageLoss::How::falls:
      return "lost";
    case CoverageLoss::How::unknown:
      return "unknown";
    case CoverageLoss::How::comes:
      return "new";
    case CoverageLoss::How::gone:
      break;
  }
  return "gone";
}

std::string pair_text(const Difference& difference, const FilePair& pair) {
  if (!pair.before) return file_text(difference.after.files[*pair.after]);
  const DiffFile& before = difference.before.files[*pair.before];
  if (!pair.after) return file_text(before);
  const DiffFile& after = difference.after.files[*pair.after];
  const std::string& was = before.key.empty() ? before.path : before.key;
  const std::string& is = after.key.empty() ? after.path : after.key;
  return was == is ? is : was + " -> " + is;
}

std::string devices_text(const Difference& difference, const std::vector<std::size_t>& devices) {
  std::vector<std::string> names;
  for (const std::size_t device : devices) names.push_back(to_string(difference.before.devices[device]));
  return join(names, ", ");
}

std::string loss_text(const Difference& difference, const CoverageLoss& loss) {
  const bool one = loss.devices.size() == 1;
  const auto what = [&]() -> std::string {
    switch (loss.how) {
      case CoverageLoss::How::unknown:
        return " may lose coverage, which cannot be told";
      case CoverageLoss::How::comes:
        return one ? " is not covered by this new file" : " are not covered by this new file";
      case CoverageLoss::How::gone:
        if (loss.after) return one ? " loses all device code of it" : " lose all device code of it";
        return one ? " loses the file" : " lose the file";
      case CoverageLoss::How::falls:
        break;
    }
    if (loss.was_covered && loss.verdict.coverage == Coverage::not_covered)
      return one ? " is not covered any more" : " are not covered any more";
    return one ? " loses device code" : " lose device code";
  };
  std::string text = devices_text(difference, loss.devices) + what();
  return loss.names.empty() ? text : text + ": " + counted_names(loss.names);
}

std::vector<std::vector<const CoverageLoss*>> loss_groups(const Difference& difference) {
  std::map<std::tuple<CoverageLoss::How, std::string, std::string, std::string>, std::size_t> groups;
  std::vector<std::vector<const CoverageLoss*>> all;
  for (const CoverageLoss& loss : difference.losses) {
    const auto [found, is_new] = groups.try_emplace(
        {loss.how, loss_text(difference, loss), cause_text(loss), loss.verdict.fix}, all.size());
    if (is_new) all.emplace_back();
    all[found->second].push_back(&loss);
  }
  return all;
}

std::string files_text(const Difference& difference, const std::vector<const CoverageLoss*>& group) {
  std::vector<std::string> files;
  for (const CoverageLoss* loss : group) files.push_back(pair_text(difference, {loss->before, loss->after}));
  return list_text(files, kLossesNamed);
}

std::string counted_names(const std::vector<DiffName>& names) {
  if (names.empty()) return {};
  const auto is_variable = [](const DiffName& name) { return name.is_variable; };
  const auto variables = static_cast<std::size_t>(std::count_if(names.begin(), names.end(), is_variable));
  std::vector<std::string> counts;
  if (variables != names.size()) counts.push_back(count_of(names.size() - variables, "kernel"));
  if (variables != 0) counts.push_back(count_of(variables, "variable"));
  return join(counts, " and ") + ", '" + shortened(demangle(names.front().text), kNameMost) + "' first";
}

std::string cause_text(const CoverageLoss& loss) {
  std::vector<std::string> parts;
  if (loss.verdict.code != 0) parts.push_back("error " + std::to_string(loss.verdict.code));
  if (!loss.verdict.what.empty()) parts.push_back(loss.verdict.what);
  if (!loss.verdict.found.empty()) parts.push_back("found " + loss.verdict.found);
  return join(parts, ": ");
}

std::string ptx_text(const Difference& difference) {
  if (difference.ptx_went.empty()) return {};
  const DiffFile& first = difference.after.files[difference.ptx_went.front()];
  std::string text = file_text(first);
  if (const std::size_t more = difference.ptx_went.size() - 1; more != 0)
    text += " and " + count_of(more, "more file");
  return "no PTX any more, which devices of the future compile: " + text;
}

std::string change_text(std::uint64_t before, std::uint64_t after) {
  return before == after ? std::to_string(after) : std::to_string(before) + " -> " + std::to_string(after);
}

std::string size_change_text(std::uint64_t before, std::uint64_t after) {
  if (human_size(before) == human_size(after)) return human_size(after);
  std::string text = human_size(before) + " -> " + human_size(after);
  if (const auto percent = percent_of_growth(before, after); percent && after != 0)
    text += " (" + percent_text(*percent) + ")";
  return text;
}

std::string growth_text(const Difference& difference) {
  if (!difference.grow) return {};
  const auto growth = growth_of(difference);
  const std::string allowed = ", and --grow allows " + std::to_string(*difference.grow) + " %";
  if (!growth) return "device code came where there was none" + allowed;
  if (*growth < 0) return "device code shrank by " + fmt::format("{:.1f} %", -*growth) + allowed;
  return "device code grew by " + fmt::format("{:.1f} %", *growth) + allowed;
}

std::string verdict_text(const Difference& difference) {
  std::set<std::size_t> lost, unknown;
  for (const CoverageLoss& loss : difference.losses)
    (loss.how == CoverageLoss::How::unknown ? unknown : lost)
        .insert(loss.devices.begin(), loss.devices.end());
  const bool all_read = difference.before.errors.empty() && difference.after.errors.empty();
  const std::size_t all = difference.before.devices.size();
  std::string text;
  if (!lost.empty())
    text = std::to_string(lost.size()) + " of " + count_of(all, "device") +
           (lost.size() == 1 ? " loses coverage" : " lose coverage");
  else if (is_untold(difference))
    text = "unknown for " + count_of(all_read ? unknown.size() : all, "device");
  else
    text = "nothing lost on " + count_of(all, "device");
  if (!lost.empty() && is_untold(difference)) text += "; some of the answer is unknown";
  if (grew_too_much(difference)) text += "; grew too much";
  return text;
}

void write_diff_text(const Difference& difference, const Style& style, TextSink& sink) {
  const auto line = [&](const std::vector<Shown>& parts) { sink.write(line_of(parts)); };
  line({style.strong(names_text(difference))});
  write_table(difference, sink);
  std::vector<std::string> gone, come, renamed;
  for (const FilePair& pair : difference.files) {
    if (!pair.after) gone.push_back(pair_text(difference, pair));
    if (!pair.before) come.push_back(pair_text(difference, pair));
    if (pair.before && pair.after &&
        difference.before.files[*pair.before].key != difference.after.files[*pair.after].key)
      renamed.push_back(pair_text(difference, pair));
  }
  if (!renamed.empty()) line({"  taken for one: ", list_text(renamed)});
  if (!come.empty()) line({"  came: ", list_text(come)});
  if (!gone.empty()) line({"  went: ", list_text(gone)});
  if (!difference.gained.empty()) line({"  covered now: ", devices_text(difference, difference.gained)});
  if (!difference.before.archguard.empty() && difference.before.archguard != difference.after.archguard)
    line({"  ", difference.before.name, " was judged by archguard ", difference.before.archguard,
          ", the other by ", difference.after.archguard});
  for (const std::vector<const CoverageLoss*>& group : loss_groups(difference)) {
    const CoverageLoss& loss = *group.front();
    const bool unknown = loss.how == CoverageLoss::How::unknown;
    line({unknown ? style.warning("archguard: unknown: ") : style.error("archguard: lost: "),
          files_text(difference, group), ": ", loss_text(difference, loss)});
    // What is said is that of the first device.
    const std::string first = to_string(difference.before.devices[loss.devices.front()]);
    const bool several = loss.devices.size() > 1;
    if (const std::string cause = cause_text(loss); !cause.empty())
      line({several ? "  cause on " + first + ": " : "  cause: ", cause});
    if (!loss.verdict.fix.empty())
      line({several ? "  fix for " + first + ": " : "  fix: ", loss.verdict.fix});
  }
  if (const std::string hint = scope_hint(difference); !hint.empty()) line({"  ", hint});
  if (const std::string ptx = ptx_text(difference); !ptx.empty()) line({"  ", ptx});
  for (const DiffSide* side : {&difference.before, &difference.after})
    if (!side->passed_over.empty())
      line({"  passed over, and may hold device code: ", list_text(side->passed_over)});
  write_errors(difference.before, style, sink);
  write_errors(difference.after, style, sink);
  if (const std::string growth = growth_text(difference); !growth.empty()) line({"  ", growth});
  const bool good = !is_lost(difference) && !is_untold(difference) && !grew_too_much(difference);
  line({good ? style.good(verdict_text(difference)) : style.error(verdict_text(difference))});
  sink.flush();
}

}  // namespace archguard
