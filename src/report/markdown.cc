#include "report/markdown.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.h"
#include "base/text.h"
#include "host/host_file.h"
#include "report/coverage_table.h"
#include "report/device_text.h"
#include "report/findings.h"
#include "report/names.h"

namespace archguard {
namespace {

constexpr std::uint64_t kCommentBytes = 65000;  // GitHub takes 65,536 characters
constexpr std::uint64_t kKeptForEnd = 200;      // for what is said of the rest

const char* heading_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::covered:
      return "## ArchGuard: covered\n\n";
    case Outcome::not_covered:
      return "## ArchGuard: not covered\n\n";
    case Outcome::no_device_code:
      return "## ArchGuard: no device code\n\n";
    case Outcome::unknown:
      break;
  }
  return "## ArchGuard: unknown\n\n";
}

// A block of code that no run of backquotes in it can end.
std::string fenced(const std::string& text) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + text + fence + "\n";
}

class MarkdownWriter {
 public:
  MarkdownWriter(const Verification& verification, const ReportOptions& options, std::uint64_t most)
      : all_(verification), options_(options), most_(most) {}

  std::string write() {
    out_ = heading_of(outcome_of(all_)) + markdown_escape(verdict_line(all_)) + "\n";
    write_files();
    write_found();
    return out_.size() <= most_ ? std::move(out_) : std::string();
  }

 private:
  bool fits(const std::string& piece, std::uint64_t most) const {
    return out_.size() + piece.size() + kKeptForEnd <= most;
  }

  void write_files() {
    const CoverageTable table = coverage_table(all_, options_.full ? TableRows::unfolded : TableRows::folded);
    if (table.rows.empty() || table.titles.empty()) return;
    std::string head = "\n| file |", line = "|---|";
    for (const std::string& title : table.titles) {
      head += " " + markdown_escape(title) + " |";
      line += ":-:|";
    }
    head += "\n" + line + "\n";
    if (!fits(head, most_ / 2)) return;
    out_ += head;
    std::size_t shown = 0;
    for (const std::size_t row : gravest_first(table)) {
      const std::string text = row_of(table.rows[row]);
      if (!fits(text, most_ / 2)) break;
      out_ += text;
      ++shown;
    }
    if (shown < table.rows.size())
      out_ += fmt::format("\nand {} more\n", count_of(table.rows.size() - shown, "row"));
    out_ += "\n" + markdown_escape(legend_of(table)) + "\n";
    write_devices(table);
  }

  // Rows that fail, before those that do not.
  static std::vector<std::size_t> gravest_first(const CoverageTable& table) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < table.rows.size(); ++i) order.push_back(i);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t row) {
      const auto& cells = table.rows[row].cells;
      return !std::all_of(cells.begin(), cells.end(), is_good);
    });
    return order;
  }

  std::string row_of(const CoverageTable::Row& row) const {
    const FileResult& first = all_.files[row.files.front()];
    std::string text = "| " + markdown_escape(object_name(first.path, first.member));
    if (row.files.size() > 1) text += fmt::format(" and {} more", row.files.size() - 1);
    for (const CoverageCell& cell : row.cells)
      text += is_good(cell) ? " | " + letter_of(cell) : " | **" + letter_of(cell) + "**";
    return text + " |\n";
  }

  void write_devices(const CoverageTable& table) {
    std::string text = "\n<details><summary>devices</summary>\n\n";
    for (std::size_t i = 0; i < table.titles.size(); ++i)
      text += "- " + markdown_escape(table.titles[i]) + ": " + markdown_escape(devices_of(all_, i)) + "\n";
    text += "\n</details>\n";
    if (fits(text, most_ / 2)) out_ += text;
  }

  void write_found() {
    const std::vector<Finding> findings = findings_of(all_, options_);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      std::string lines;
      for (const auto& [label, words] : findings[i].text.details)
        lines += printable(label + ": " + words) + "\n";
      std::string text =
          "\n<details><summary>" + markdown_escape(headline_of(findings[i])) + "</summary>\n\n";
      text += (lines.empty() ? "" : fenced(lines)) + "\n</details>\n";
      if (fits(text, most_)) {
        out_ += text;
        continue;
      }
      out_ += fmt::format("\nand {} more\n", count_of(findings.size() - i, "message"));
      return;
    }
  }

  const Verification& all_;
  const ReportOptions& options_;
  const std::uint64_t most_;
  std::string out_;
};

}  // namespace

std::string markdown_escape(std::string_view text) {
  const std::string line = printable(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '@' || c == '#') {  // a comment keeps it from being a mention: that is looked for later
      escaped += c;
      escaped += "<!-- -->";
    } else if ((c == ':' && line.compare(i, 3, "://") == 0) ||
               (c == '.' && i >= 3 && line.compare(i - 3, 3, "www") == 0)) {
      escaped += c;
      escaped += "<!-- -->";
    } else if (std::string_view("\\`*_[]|~$!").find(c) != std::string_view::npos) {
      escaped += {'\\', c};
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string markdown_text(const Verification& verification, const ReportOptions& options,
                          std::uint64_t most_bytes) {
  return MarkdownWriter(verification, options, most_bytes).write();
}

void MarkdownReport::write_to(TextSink& sink) const {
  sink.write(markdown_text(verification_, options_, options_.full ? UINT64_MAX / 2 : kCommentBytes));
}

}  // namespace archguard
