#include "report/findings.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

#include "base/text.h"
#include "coverage/fix.h"
#include "host/host_file.h"
#include "report/any_of_text.h"
#include "report/device_text.h"
#include "report/expect_text.h"
#include "report/names.h"
#include "report/warnings.h"

namespace archguard {
namespace {

using Level = Finding::Level;

constexpr const char* kUnknownRule = "AG-unknown";

const std::vector<FindingRule>& other_rules() {
  static const std::vector<FindingRule> rules = {
      {"AG-policy", "device code is not what was asked for"},
      {"AG-expect", "an image that the build asked for is missing"},
      {"AG-any-of", "none of several alternatives covers a device"},
      {kUnknownRule, "whether device code runs cannot be told"},
      {"AG-unread", "a file could not be read whole"},
      {"AG-library", "a library that a file needs was not found"},
      {"AG-device", "a device without a compute capability"},
      {"AG-nothing", "nothing could be judged"},
      {"AG-warning", "device code that may not do what it should"},
  };
  return rules;
}

std::string rule_of(const Failure& failure) {
  if (failure.unknown) return kUnknownRule;
  const int number = error_number_of(failure);
  return number == 0 ? "AG-policy" : "AG" + std::to_string(number);
}

class Finder {
 public:
  Finder(const Verification& verification, const ReportOptions& options)
      : all_(verification), options_(options) {}

  std::vector<Finding> find() {
    for (const FailureGroup& group : group_failures(all_)) add_group(group);
    for (std::size_t i = 0; i < all_.files.size(); ++i) add_file(i);
    for (const AnyOf& group : all_.any_of) add_alternatives(group);
    if (all_.needed)
      for (const Error& error : all_.needed->errors) add(Level::unknown, "AG-library", error, {});
    add_vain();
    add_unjudged();
    for (const Warning& warning : warnings_of(all_)) add_warning(warning);
    add_last();
    std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) {
      return a.level != b.level ? a.level < b.level : is_of_cuda(a) > is_of_cuda(b);
    });
    return std::move(found_);
  }

 private:
  static bool is_of_cuda(const Finding& finding) { return finding.rule.find('-') == std::string::npos; }
  static std::string name_of(const FileResult& file) { return object_name(file.path, file.member); }

  Finding& add(Level level, const std::string& rule, const Error& error, std::vector<std::size_t> files) {
    Finding finding{level, rule, {}, std::move(files), {}};
    finding.text.kind = level == Level::error ? "error" : level == Level::unknown ? "unknown" : "warning";
    finding.text.where = error.where;
    finding.text.what = error.what;
    if (!error.fix.empty()) finding.text.details.emplace_back("fix", error.fix);
    found_.push_back(std::move(finding));
    return found_.back();
  }

  void add_group(const FailureGroup& group) {
    Finding finding{group.first().unknown ? Level::unknown : Level::error,
                    rule_of(group.first()),
                    failure_text(all_, group, {options_.hint_scope, options_.full}),
                    group.files,
                    {}};
    for (const auto& [device, failure] : group.classes) {
      finding.classes.push_back(device);
      if (group.classes.size() > 1)
        finding.of_classes.push_back({failure->reason, fix_in(all_, group, *failure)});
    }
    found_.push_back(std::move(finding));
  }

  void add_file(std::size_t index) {
    const FileResult& file = all_.files[index];
    for (const Error& error : file.errors)
      add(errors_matter(all_, file) ? Level::unknown : Level::warning, "AG-unread", error, {index});
    if (!file.alternative)
      for (const ExpectFailure& failure : file.expect.failures) {
        auto& details = add(Level::error, "AG-expect", error_of(file, failure), {index}).text.details;
        details.insert(details.begin(), {"found", failure.found});
      }
  }

  void add_warning(const Warning& warning) {
    found_.push_back(
        {Level::warning, "AG-warning", text_of(warning, options_.columns), warning.files, warning.classes});
  }

  void add_alternatives(const AnyOf& group) {
    const std::string where = "any of '" + group.glob + "'";
    if (group.files.empty()) {
      add(Level::unknown, "AG-any-of", {where, "matches no file with device code", {}}, {});
      return;
    }
    for (std::size_t i = 0; i < group.devices.size(); ++i) {
      const Coverage coverage = group.devices[i].coverage;
      if (coverage == Coverage::covered) continue;
      const std::string files = count_of(group.files.size(), "file");
      const bool unknown = coverage == Coverage::unknown;
      Finding& finding =
          add(unknown ? Level::unknown : Level::error, "AG-any-of",
              {where,
               unknown ? fmt::format("whether one of {} covers {} cannot be told", files, devices_of(all_, i))
                       : fmt::format("none of {} covers {}", files, devices_of(all_, i)),
               {}},
              group.files);
      finding.classes = {i};
      add_refusals(group, i, finding);
    }
    if (!group.absent.empty()) {
      add(Level::error, "AG-any-of",
          {where, "no file holds " + to_string(group.absent) + " in every fat binary, which was asked for",
           "in one of them, " + fix_for_absent(group.absent, {}, {})},
          group.files);
    }
  }

  // What the first files lack; one that has the fewest failures is the first to be mended.
  void add_refusals(const AnyOf& group, std::size_t device, Finding& finding) const {
    constexpr std::size_t kShown = 5;
    std::vector<std::size_t> files = group.files;
    const auto failures_of = [&](std::size_t file) {
      return all_.files[file].devices[device].failures.size();
    };
    std::stable_sort(files.begin(), files.end(),
                     [&](std::size_t a, std::size_t b) { return failures_of(a) < failures_of(b); });
    const std::string* fix = nullptr;
    for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i) {
      const FileResult& file = all_.files[files[i]];
      const auto& failures = file.devices[device].failures;
      if (failures.empty()) continue;
      const Failure& failure = failures.front();
      finding.text.details.emplace_back(
          name_of(file), kind_of(failure) + ": " + (failure.found.empty() ? failure.reason : failure.found));
      if (fix == nullptr && !failure.fix.empty()) fix = &failure.fix;
    }
    if (fix != nullptr) finding.text.details.emplace_back("fix", "in one of them, " + *fix);
  }

  void add_vain() {
    if (const auto error = vain_expectation(all_)) add(Level::error, "AG-expect", *error, {});
  }

  void add_unjudged() {
    std::size_t first = all_.devices.size(), more = 0;
    for (std::size_t i = 0; i < all_.devices.size(); ++i) {
      if (!is_unjudged(all_.devices.kind(i))) continue;
      if (first == all_.devices.size())
        first = i;
      else
        ++more;
    }
    if (first == all_.devices.size()) return;
    add(Level::unknown, "AG-device", unjudged_device(all_.devices[first], more), {});
  }

  // What no finding tells, the answer does.
  void add_last() {
    const Outcome outcome = outcome_of(all_);
    if (outcome == Outcome::covered) return;
    if (outcome == Outcome::no_device_code) {
      add(Level::unknown, "AG-nothing", {{}, "no file holds device code", {}}, {});
      return;
    }
    const Level level = outcome == Outcome::not_covered ? Level::error : Level::unknown;
    if (std::any_of(found_.begin(), found_.end(),
                    [&](const Finding& finding) { return finding.level == level; }))
      return;
    const std::string what = all_.passed_over.empty()
                                 ? std::string("the answer is ") + std::string(archguard::name_of(outcome))
                                 : trimmed(passed_over_text(all_.passed_over));
    add(level, level == Level::error ? "AG-policy" : "AG-nothing", {{}, what, {}}, {});
  }
  static std::string trimmed(const std::string& text) { return std::string(trim(text)); }

  const Verification& all_;
  const ReportOptions& options_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> findings_of(const Verification& verification, const ReportOptions& options) {
  return Finder(verification, options).find();
}

std::vector<FindingRule> rules_of(const std::vector<Finding>& findings) {
  std::set<std::string> used;
  for (const Finding& finding : findings) used.insert(finding.rule);
  std::vector<FindingRule> rules;
  for (const std::string& id : used) {
    if (id.find('-') != std::string::npos) continue;
    const int number = std::atoi(id.c_str() + 2);
    const std::string name(seen_as(number));
    rules.push_back({id, name.empty() ? "CUDA error " + std::to_string(number) : name});
  }
  for (const FindingRule& rule : other_rules())
    if (used.count(rule.id) != 0) rules.push_back(rule);
  return rules;
}

std::string headline_of(const Finding& finding) {
  const FailureText& text = finding.text;
  return text.kind + ": " + (text.where.empty() ? "" : text.where + ": ") + text.what;
}

std::string details_of(const Finding& finding) {
  std::string lines;
  for (const auto& [label, words] : finding.text.details) lines += label + ": " + words + "\n";
  return lines;
}

std::string verdict_line(const Verification& verification) {
  std::size_t covered = 0, judged = 0;
  for (const FileResult& file : verification.files) {
    const Outcome outcome = outcome_of(verification, file);
    if (outcome == Outcome::no_device_code) continue;
    ++judged;
    covered += outcome == Outcome::covered ? 1 : 0;
  }
  std::uint64_t devices = 0;
  for (std::size_t i = 0; i < verification.classes.size(); ++i) devices += count_of_class(verification, i);
  switch (outcome_of(verification)) {
    case Outcome::covered:
      return fmt::format("covered: {} on {}", count_of(judged, "file"), count_of(devices, "device"));
    case Outcome::not_covered:
      return fmt::format("not covered: {} of {} covered on all of {}", covered, count_of(judged, "file"),
                         count_of(devices, "device"));
    case Outcome::no_device_code:
      return "no device code";
    case Outcome::unknown:
      break;
  }
  return fmt::format("unknown: {} of {} covered on all of {}", covered, count_of(judged, "file"),
                     count_of(devices, "device"));
}

}  // namespace archguard
