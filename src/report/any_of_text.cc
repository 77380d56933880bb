#include "report/any_of_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.h"
#include "base/text.h"
#include "coverage/fix.h"
#include "host/host_file.h"
#include "report/device_text.h"
#include "report/failure_text.h"
#include "report/names.h"

namespace archguard {
namespace {

constexpr std::size_t kFilesShown = 5, kFixesShown = 3;

std::string name_of_file(const FileResult& file) {
  return object_name(file.path, file.member);
}

// Without what all of them begin with, up to a folder's end or that of a zip file's name.
std::vector<std::string> short_names(std::vector<std::string> names) {
  std::size_t common = names.front().size();
  for (const std::string& name : names) {
    const auto length = std::min(common, name.size());
    common = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(length), names.front().begin())
            .first -
        name.begin());
  }
  const std::size_t end = std::string_view(names.front()).substr(0, common).find_last_of("/(");
  if (end == std::string_view::npos) return names;
  const bool in_zip = names.front().find('(') <= end;
  for (std::string& name : names) {
    name.erase(0, end + 1);
    if (in_zip && !name.empty() && name.back() == ')') name.pop_back();
  }
  return names;
}

// What one alternative says of a device that it does not cover.
struct Refusal {
  std::string name;
  std::string text;  // "error 209: sm_80 cubin, no PTX"
  std::string fix;
  int code = 0;  // of CUDA, 0 where there is none
  std::size_t failures = 0;
};

Refusal refusal_of(const Verification& verification, const FileResult& file, std::size_t device) {
  const DeviceResult& result = file.devices[device];
  Refusal refusal;
  refusal.failures = result.failures.size();
  if (result.coverage == Coverage::covered && file.errors.empty()) {
    for (const std::size_t index : file.libraries) {
      const FileResult& library = verification.files[index];
      if (library.errors.empty() && library.devices[device].coverage == Coverage::covered) continue;
      if (outcome_of(verification, library) == Outcome::no_device_code) continue;
      Refusal of_library = refusal_of(verification, library, device);
      of_library.text = "needs " + name_of_file(library) + ": " + of_library.text;
      return of_library;
    }
  }
  if (result.failures.empty()) {
    refusal.text = "not read whole";
    refusal.failures = SIZE_MAX;
    return refusal;
  }
  const auto known = std::find_if(result.failures.begin(), result.failures.end(),
                                  [](const Failure& failure) { return !failure.unknown; });
  const Failure& failure = known != result.failures.end() ? *known : result.failures.front();
  refusal.code = failure.unknown ? 0 : error_number_of(failure);
  refusal.text = kind_of(failure);
  const std::string& why = failure.found.empty() || failure.unknown ? failure.reason : failure.found;
  if (!why.empty()) refusal.text += ": " + why;
  if (!file.errors.empty()) refusal.text += "; not read whole";
  std::vector<std::string> fixes;  // each is needed
  for (const Failure& each : result.failures)
    if (!each.fix.empty() && std::find(fixes.begin(), fixes.end(), each.fix) == fixes.end())
      fixes.push_back(each.fix);
  refusal.fix = join(fixes, "; and ");
  return refusal;
}

// As it is typed where alternatives are asked for: to a shell, or in CMake.
std::string option_with(const Verification& all, const std::string& glob) {
  return all.one_build ? "ANY_OF \"" + glob + "\"" : "--any-of '" + glob + "'";
}

class GroupWriter {
 public:
  GroupWriter(const Verification& verification, const AnyOf& group, const Style& style)
      : all_(verification),
        group_(group),
        style_(style),
        glob_("'" + group.glob + "'"),
        named_(glob_ + (group.places == 1 ? "" : " in " + group.in)) {}

  std::string write() {
    if (group_.files.empty()) {
      write_no_match();
      return std::move(out_);
    }
    for (const std::size_t index : group_.files) names_.push_back(name_of_file(all_.files[index]));
    names_ = short_names(std::move(names_));
    if (group_.files.size() > 1) {
      for (std::size_t i = 0; i < group_.devices.size(); ++i)
        if (group_.devices[i].coverage != Coverage::covered) write_device(i);
      write_absent();
    } else if (const auto said = no_alternative(all_, group_)) {
      line({style_.warning("archguard: warning: "), said->text()});
      detail("fix", said->fix);
    }
    write_summary();
    if (group_.place + 1 == group_.places) write_apart();
    return std::move(out_);
  }

 private:
  void line(const std::vector<Shown>& parts) { out_ += line_of(parts); }
  void line(const std::string& text) { line({Shown(text)}); }
  void detail(std::string_view label, const std::string& text) {
    if (!text.empty()) line(fmt::format("  {}: {}", label, text));
  }
  std::string count() const { return count_of(group_.files.size(), "file"); }

  void write_no_match() {
    line({style_.error("archguard: error: "),
          option_with(all_, group_.glob) + ": matches no file with device code" +
              (group_.without_code == 0 ? "" : ", and " + std::to_string(group_.without_code) + " without")});
    const std::string glob = suggest_any_of(all_);
    detail("fix", glob.empty()
                      ? "leave it out: no file holds device code"
                      : "write the end of a path, such as " + option_with(all_, glob) + "; * stops at /");
  }

  void write_device(std::size_t device) {
    const std::string devices = devices_of(all_, device);
    std::vector<Refusal> refusals;
    for (std::size_t i = 0; i < group_.files.size(); ++i) {
      const FileResult& file = all_.files[group_.files[i]];
      refusals.push_back(refusal_of(all_, file, device));
      refusals.back().name = names_[i];
    }
    const int code = refusals.front().code;
    const bool is_same =
        std::all_of(refusals.begin(), refusals.end(), [&](const Refusal& each) { return each.code == code; });
    if (group_.devices[device].coverage == Coverage::unknown) {
      line({style_.error("archguard: unknown: "),
            fmt::format("any of {}: whether one of {} covers {} cannot be told", named_, count(), devices)});
    } else {
      line({style_.error(is_same && code != 0 ? fmt::format("archguard: error {}: ", code)
                                              : std::string("archguard: error: ")),
            fmt::format("any of {}: none of {} covers {}", named_, count(), devices)});
      if (is_same) detail("seen as", std::string(seen_as(code)));
    }
    // What lacks least comes first.
    std::stable_sort(refusals.begin(), refusals.end(),
                     [](const Refusal& a, const Refusal& b) { return a.failures < b.failures; });
    for (std::size_t i = 0; i < std::min(refusals.size(), kFilesShown); ++i)
      detail(refusals[i].name, refusals[i].text);
    if (refusals.size() > kFilesShown)
      line(fmt::format("  and {} more; --format json has them all", refusals.size() - kFilesShown));
    detail("fix", fix_of(refusals));
  }

  // One of them is enough: one of those that lack least. Files with one fix are named together.
  static std::string fix_of(const std::vector<Refusal>& refusals) {
    std::vector<std::pair<std::string, std::vector<std::string>>> fixes;
    for (const Refusal& refusal : refusals) {
      if (refusal.failures > refusals.front().failures || refusal.fix.empty()) continue;
      auto same = std::find_if(fixes.begin(), fixes.end(),
                               [&](const auto& each) { return each.first == refusal.fix; });
      if (same == fixes.end()) same = fixes.insert(fixes.end(), {refusal.fix, {}});
      same->second.push_back(refusal.name);
    }
    std::vector<std::string> parts;
    for (const auto& [fix, names] : fixes) {
      if (parts.size() == kFixesShown) break;
      const bool all = names.size() == refusals.size();
      parts.push_back((all                 ? "in any one of them"
                       : names.size() == 1 ? "in " + names.front()
                                           : "in " + names.front() + " or " + names[1]) +
                      (all || names.size() < 3 ? "" : " or " + std::to_string(names.size() - 2) + " more") +
                      ", " + fix);
    }
    return join(parts, "; or ");
  }

  void write_absent() {
    if (group_.absent.empty()) return;
    line({style_.error("archguard: error: "),
          fmt::format("any of {}: none of {} holds {} in every fat binary, which was asked for", named_,
                      count(), to_string(group_.absent))});
    detail("fix", "in one of them, " + fix_for_absent(group_.absent, {}, {}));
  }

  // Files that were named one by one, or with their folders, may be one package whose folders nobody told.
  void write_apart() {
    std::size_t folders = 0;
    bool all_covered = true;
    for (std::size_t i = 0; i < group_.places; ++i) {
      const AnyOf& each = *(&group_ - i);  // the last of them comes last
      folders += each.in_zip ? 0 : 1;
      all_covered &= outcome_of(all_, each) == Outcome::covered;
    }
    if (folders < 2 || all_covered) return;
    line(fmt::format(
        "archguard: note: the files of {} stand in {} folders, and each folder is judged by itself", glob_,
        folders));
    detail("fix",
           "where one program picks among them all, name the folder above them as PATH, or the folders in "
           "the glob: --any-of '*/" +
               group_.glob + "'");
  }

  void write_summary() {
    std::vector<Coverage> classes;
    for (const AnyOfDevice& device : group_.devices) classes.push_back(device.coverage);
    auto [text, excluded] = covered_text(all_, classes);
    if (text.empty())
      text = group_.absent.empty() ? "they hold what was asked for" : "they lack what was asked for";
    line({fmt::format("any of {}, {}: ", named_, count()),
          outcome_of(all_, group_) == Outcome::covered ? style_.good(text) : style_.error(text), excluded});
  }

  const Verification& all_;
  const AnyOf& group_;
  const Style& style_;
  const std::string glob_;
  const std::string named_;  // and of several places, which one
  std::vector<std::string> names_;
  std::string out_;
};

}  // namespace

std::string any_of_text(const Verification& verification, const AnyOf& group, const Style& style) {
  return GroupWriter(verification, group, style).write();
}

std::optional<Error> no_alternative(const Verification& verification, const AnyOf& group) {
  if (group.files.size() != 1 || group.places != 1) return std::nullopt;
  if (group.glob.find_first_of("*?[") != std::string::npos) return std::nullopt;
  const char* what = verification.one_build
                         ? "write a glob for the alternatives too: "
                         : "write the glob in quotes, so that the shell leaves it as it is: ";
  return Error{{},
               option_with(verification, group.glob) + " is one file, which has no alternative",
               what + option_with(verification, suggest_any_of(verification))};
}

std::string pickable_text(const Verification& verification, const std::vector<Pickable>& images) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, images.size()); ++i)
    text += fmt::format(
        "archguard: hint: the {} images '{}' cover every device together; where the program picks the one "
        "for its device, add {}\n",
        images[i].files, printable(images[i].glob), printable(option_with(verification, images[i].glob)));
  if (images.size() > kShown)
    text += fmt::format("archguard: hint: so do {} more groups of images\n", images.size() - kShown);
  return text;
}

std::string globs_text(const Verification& verification, const FileResult& file) {
  std::vector<std::string> globs;
  for (const std::size_t group : globs_of(verification, file))
    globs.push_back("'" + verification.any_of[group].glob + "'");
  return (file.any_of.empty() ? "for one of " : "one of ") + join(globs, " and of ");
}

std::string name_beside(const Verification& verification, std::size_t other, const FileResult& file) {
  return short_names({name_of_file(verification.files[other]), name_of_file(file)}).front();
}

}  // namespace archguard
