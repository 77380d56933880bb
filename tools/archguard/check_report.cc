#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "check_target.h"
#include "commands.h"
#include "coverage/any_of.h"
#include "image/demangle.h"
#include "report/findings.h"
#include "report_files.h"
#include "result/join.h"
#include "terminal.h"

namespace archguard {
namespace {

namespace fs = std::filesystem;

struct ListedCheck {
  bool of_files = false;  // else of targets
  bool is_skipped = false;
  std::string parameters, built;
};

Result<std::vector<ListedCheck>> read_list(const std::string& path) {
  ARCHGUARD_TRY(text, read_text_file(path));
  std::vector<ListedCheck> checks;
  for (const std::string_view line : split(text, '\n')) {
    const auto end = line.find(' ');
    const std::string_view key = line.substr(0, end);
    const std::string value(end == std::string_view::npos ? "" : line.substr(end + 1));
    if (key == "target" || key == "files") {
      checks.emplace_back().of_files = key == "files";
    } else if (!checks.empty()) {
      if (key == "parameters") checks.back().parameters = value;
      if (key == "built") checks.back().built = value;
      if (key == "skip") checks.back().is_skipped = value == "1";
    }
  }
  return checks;
}

// Those of one question, and each file with one answer, go together.
class Pages {
 public:
  void add(const std::string& name, Verification verification) {
    if (verification.devices.empty()) return;
    ResultPart part{name, std::move(verification), false};
    for (Join& page : pages_)
      if (page.add(part)) return;
    Join page;
    if (page.add(part)) pages_.push_back(std::move(page));
  }
  // Of a target whose own file is judged with those of others: libraries that it needs.
  void add_libraries(const std::string& name, Verification verification) {
    if (verification.devices.empty()) {
      if (verification.needed)
        loose_.insert(loose_.end(), verification.needed->errors.begin(), verification.needed->errors.end());
      return;
    }
    ResultPart part{name, std::move(verification), false};
    for (Join& page : pages_) {
      find_alternatives(part.verification, page.globs());
      if (page.add(part)) return;
    }
    find_alternatives(part.verification, {});
    add(name, std::move(part.verification));
  }
  // The largest first.
  std::vector<Verification> finish() {
    std::vector<Verification> all;
    for (Join& page : pages_) all.push_back(page.finish());
    std::stable_sort(all.begin(), all.end(), [](const Verification& a, const Verification& b) {
      return a.files.size() > b.files.size();
    });
    if (all.empty() || loose_.empty()) return all;
    auto& needed = all.front().needed;
    if (!needed) needed.emplace();
    needed->errors.insert(needed->errors.end(), loose_.begin(), loose_.end());
    return all;
  }

 private:
  std::vector<Join> pages_;
  std::vector<Error> loose_;  // of targets without a file of their own on a page
};

// "a/report.html", "a/report-2.html", ….
std::string numbered(const std::string& path, std::size_t number) {
  if (number == 1) return path;
  const auto dot = path.rfind('.');
  return path.substr(0, dot) + "-" + std::to_string(number) + path.substr(dot);
}

Status write_pages(const std::vector<Verification>& pages, const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    const auto end = report.find('=');
    const std::string path = report.substr(end + 1);
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    for (std::size_t i = 0; i < pages.size(); ++i)
      ARCHGUARD_CHECK(write_also({report.substr(0, end + 1) + numbered(path, i + 1)}, pages[i]));
    for (std::size_t more = pages.size() + 1; fs::remove(numbered(path, more), error);) ++more;  // of earlier
  }
  return Done{};
}

}  // namespace

Result<int> run_check_report(const CheckReportOptions& options) {
  ARCHGUARD_TRY(checks, read_list(options.list));
  prepare_demangle();
  Pages pages;
  // Alternatives first: they have a place for what their targets need.
  std::stable_sort(checks.begin(), checks.end(),
                   [](const ListedCheck& a, const ListedCheck& b) { return a.of_files > b.of_files; });
  for (const ListedCheck& check : checks) {
    if (check.is_skipped) continue;
    if (check.of_files) {
      ARCHGUARD_TRY(found, find_of_files(check.parameters, check.built));
      pages.add(check.built, std::move(found));
      continue;
    }
    ARCHGUARD_TRY(targets, read_target_parameters(check.parameters, check.built));
    for (const TargetParameters& target : targets) {
      ARCHGUARD_TRY(found, find_of_target(target));
      if (target.together)
        pages.add_libraries(target.target, std::move(found));
      else
        pages.add(target.target, std::move(found));
    }
  }
  const std::vector<Verification> all = pages.finish();
  if (all.empty())
    return Error{"archguard_report", "no check knows any devices", "give archguard_verify FLEET <file>"};
  ARCHGUARD_CHECK(write_pages(all, options.reports));
  if (options.reports.empty()) return kExitCovered;
  const std::string& first = options.reports.front();
  for (std::size_t i = 0; i < all.size(); ++i)
    print(printable("archguard: " + numbered(first.substr(first.find('=') + 1), i + 1) + ": " +
                    verdict_line(all[i])) +
          "\n");
  ARCHGUARD_CHECK(finish_printing());
  return kExitCovered;
}

}  // namespace archguard
