#include "report/html.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/json.h"
#include "base/printable.h"
#include "base/text.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/coverage_table.h"
#include "report/device_text.h"
#include "report/findings.h"
#include "report/kernel_costs_text.h"
#include "report/names.h"
#include "report/tables.h"

namespace archguard {
namespace {

// JSON within a page: no text of it begins a tag or ends the script. These signs stand in texts alone.
class ScriptSink : public TextSink {
 public:
  explicit ScriptSink(TextSink& sink) : sink_(sink) {}

 private:
  void pass_on(std::string_view text) override {
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text)
      if (c == '<')
        escaped += "\\u003c";
      else if (c == '>')
        escaped += "\\u003e";
      else if (c == '&')
        escaped += "\\u0026";
      else
        escaped += c;
    sink_.write(escaped);
  }
  TextSink& sink_;
};

const char* look_of(const CoverageCell& cell) {
  switch (cell.state) {
    case CoverageCell::State::sass:
      return "sass";
    case CoverageCell::State::ptx:
      return "ptx";
    case CoverageCell::State::data:
    case CoverageCell::State::none:
    case CoverageCell::State::elsewhere:
      return "other";
    case CoverageCell::State::partly:
      return "warn";
    case CoverageCell::State::error:
      return "bad";
    case CoverageCell::State::unknown:
      break;
  }
  return "unknown";
}

std::string meaning_of(const CoverageCell& cell) {
  switch (cell.state) {
    case CoverageCell::State::sass:
      return "SASS";
    case CoverageCell::State::ptx:
      return "compiled from PTX when it is loaded";
    case CoverageCell::State::data:
      return "images held as data";
    case CoverageCell::State::none:
      return "nothing is asked of the device";
    case CoverageCell::State::elsewhere:
      return "another file covers the device";
    case CoverageCell::State::partly:
      return "far less than for other devices";
    case CoverageCell::State::error: {
      const std::string seen(seen_as(cell.error));
      return cell.error == 0 ? "not what was asked for"
                             : "error " + std::to_string(cell.error) + (seen.empty() ? "" : ", " + seen);
    }
    case CoverageCell::State::unknown:
      break;
  }
  return "cannot be told";
}

class PageData {
 public:
  PageData(const Verification& verification, const ReportOptions& options, TextSink& sink)
      : all_(verification), options_(options), json_(sink), table_(coverage_table(verification)) {}

  void write() {
    json_.begin_object(JsonLayout::packed);
    write_classes();
    write_left_out();
    write_files();
    write_cells();
    write_rows();
    write_facts();
    write_findings();
    write_sizes_of_all();
    json_.end();
  }

 private:
  void text(std::string_view key, const std::string& text) { json_.message(key, printable(text)); }
  void numbers(std::string_view key, const std::vector<std::size_t>& numbers) {
    json_.begin_list(key);
    for (const std::size_t number : numbers) json_.number_element(number);
    json_.end();
  }

  void write_classes() {
    json_.begin_list("classes", JsonLayout::packed_lines);
    for (std::size_t i = 0; i < table_.titles.size(); ++i) {
      json_.begin_object(JsonLayout::packed);
      text("title", table_.titles[i]);
      text("text", devices_of(all_, i));
      json_.end();
    }
    json_.end();
  }

  void write_left_out() {
    constexpr std::size_t kMost = 1000;
    std::size_t written = 0;
    json_.begin_list("left_out", JsonLayout::packed_lines);
    const auto add = [&](const std::string& device) {
      if (written++ >= kMost) return;
      json_.begin_object(JsonLayout::packed);
      text("text", device);
      json_.end();
    };
    for (const ExcludedDevice& each : all_.excluded)
      add(each.name + " (" + to_string(each.capability) + "): " + each.reason);
    for (std::size_t i = 0; i < all_.devices.size() && written < kMost; ++i)
      if (!is_wanted(all_.devices.kind(i)))
        add(describe(all_.devices[i]) + ": " + why_left_out(all_.devices[i]));
    json_.end();
  }

  void write_files() {
    std::vector<std::string> names;
    for (const FileResult& file : all_.files)
      names.push_back(printable(object_name(file.path, file.member) +
                                (file.needed_by.empty() ? "" : ", needed by " + file.needed_by)));
    json_.texts("files", names, JsonLayout::packed_lines);
  }

  // Each kind of cell once.
  void write_cells() {
    json_.begin_list("cells", JsonLayout::packed_lines);
    for (const CoverageTable::Row& row : table_.rows)
      for (const CoverageCell& cell : row.cells) {
        const std::string letter = letter_of(cell);
        if (!cells_.try_emplace(letter, cells_.size()).second) continue;
        json_.begin_object(JsonLayout::packed);
        json_.message("letter", letter);
        json_.message("look", look_of(cell));
        json_.message("text", meaning_of(cell));
        json_.end();
      }
    json_.end();
  }

  void write_rows() {
    json_.begin_list("rows", JsonLayout::packed_lines);
    for (const CoverageTable::Row& row : table_.rows) {
      json_.begin_object(JsonLayout::packed);
      numbers("files", row.files);
      std::vector<std::size_t> cells;
      for (const CoverageCell& cell : row.cells) cells.push_back(cells_.at(letter_of(cell)));
      numbers("cells", cells);
      json_.end();
    }
    json_.end();
  }

  // What there is to say of each file on each class, of which few differ.
  void write_facts() {
    std::map<std::string, std::size_t> known;
    std::vector<std::string> facts;
    std::vector<std::size_t> of;
    for (const FileResult& file : all_.files)
      for (std::size_t i = 0; i < all_.classes.size(); ++i) {
        std::string fact = i < file.devices.size() ? printable(counts_text(file.devices[i])) : std::string();
        const auto [at, is_new] = known.try_emplace(fact, facts.size());
        if (is_new) facts.push_back(std::move(fact));
        of.push_back(at->second);
      }
    json_.texts("facts", facts, JsonLayout::packed_lines);
    numbers("of", of);
  }

  void write_findings() {
    json_.begin_list("findings", JsonLayout::packed_lines);
    for (const Finding& finding : findings_of(all_, options_)) {
      json_.begin_object(JsonLayout::packed);
      json_.message("level", finding.level == Finding::Level::error     ? "error"
                             : finding.level == Finding::Level::unknown ? "unknown"
                                                                        : "warning");
      text("kind", finding.text.kind);
      text("where", finding.text.where);
      text("what", finding.text.what);
      json_.begin_list("details");
      for (const auto& [label, words] : finding.text.details) {
        json_.begin_object();
        text("label", label);
        text("text", words);
        json_.end();
      }
      json_.end();
      numbers("files", finding.files);
      numbers("classes", finding.classes);
      json_.begin_list("of_classes");
      for (const auto& [cause, fix] : finding.of_classes) {
        json_.begin_object();
        text("cause", cause);
        text("fix", fix);
        json_.end();
      }
      json_.end();
      json_.end();
    }
    json_.end();
  }

  void write_bytes(const ArchSize& size) {
    json_.number("stored", size.stored);
    json_.number("inflated", size.uncompressed);
    text("text", human_size(size.stored) +
                     (size.stored == size.uncompressed ? "" : ", inflated " + human_size(size.uncompressed)));
    text("images", count_of(size.images, "image"));
  }

  // Bars: what the images of each arch weigh, and the largest kernels of a file.
  void write_sizes_of_all() {
    ArchSizes archs;
    ArchSize total;
    std::vector<std::pair<const CodeSizes::OfKernel*, std::size_t>> largest;
    for (std::size_t i = 0; i < all_.files.size(); ++i) {
      for (const auto& [kind, arch, size] : all_.files[i].sizes.archs) {
        archs[{kind, arch}].add(size);
        total.add(size);
      }
      for (const CodeSizes::OfKernel& kernel : all_.files[i].sizes.largest) largest.push_back({&kernel, i});
    }
    const std::size_t shown = std::min(kLargestKept, largest.size());
    std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(shown), largest.end(),
                      [](const auto& a, const auto& b) {
                        return is_larger(*a.first, *b.first) ||
                               (!is_larger(*b.first, *a.first) && a.second < b.second);
                      });
    largest.resize(shown);
    json_.begin_object("sizes");
    write_bytes(total);
    json_.begin_list("archs", JsonLayout::packed_lines);
    for (const auto& [image, size] : archs) {
      json_.begin_object(JsonLayout::packed);
      text("title", image_name(image.first, image.second));
      write_bytes(size);
      json_.end();
    }
    json_.end();
    json_.begin_list("kernels", JsonLayout::packed_lines);
    for (const auto& [kernel, file] : largest) {
      json_.begin_object(JsonLayout::packed);
      text("title", demangle(kernel->name));
      json_.number("file", file);
      write_bytes(kernel->size);
      json_.end();
    }
    json_.end();
    json_.end();
  }

  const Verification& all_;
  const ReportOptions& options_;
  JsonWriter json_;
  const CoverageTable table_;
  std::map<std::string, std::size_t> cells_;  // by letter
};

const char* badge_of(Outcome outcome) {
  return outcome == Outcome::covered ? "sass" : outcome == Outcome::not_covered ? "bad" : "unknown";
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text))
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (c == '\'')
      escaped += "&#39;";
    else
      escaped += c;
  return escaped;
}

void HtmlReport::write_to(TextSink& sink) const {
  const Outcome outcome = outcome_of(verification_);
  const std::string verdict = html_escape(outcome == Outcome::no_device_code ? "no device code"
                                          : outcome == Outcome::not_covered  ? "not covered"
                                                                             : name_of(outcome));
  sink.write(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<title>ArchGuard: " +
      verdict + "</title>\n<style>");
  sink.write(kHtmlStyle);
  sink.write(
      "</style>\n</head>\n<body>\n<header>\n<h1>ArchGuard <span class=\"badge " +
      std::string(badge_of(outcome)) + "\">" + verdict + "</span></h1>\n<p>" +
      html_escape(verdict_line(verification_)) +
      "</p>\n</header>\n<noscript><p>The table is made by the script of this page, which is turned off "
      "here; --report markdown has it as text.</p></noscript>\n<main>\n"
      "<section id=\"matrix\" hidden>\n<h2>Files and devices</h2>\n"
      "<div class=\"controls\"><input type=\"search\" id=\"search\" placeholder=\"look for files\" "
      "aria-label=\"look for files\"><label><input type=\"checkbox\" id=\"failing\"> only what fails"
      "</label><span class=\"soft\" id=\"count\" role=\"status\"></span></div>\n"
      "<div class=\"key\" id=\"key\"></div>\n"
      "<div class=\"frame\" id=\"frame\"><table><thead><tr id=\"head\"></tr></thead>"
      "<tbody id=\"rows\"></tbody></table><div id=\"end\"></div></div>\n"
      "<p class=\"soft\">A cell opens what it is about: by a click, or by the arrow keys and Enter.</p>\n"
      "<details><summary>devices</summary><ul id=\"devices\"></ul></details>\n</section>\n"
      "<section id=\"left_out\" hidden><h2>Left out</h2><ul id=\"left\"></ul></section>\n"
      "<section id=\"found\" hidden><h2>Messages, the gravest first</h2><div id=\"findings\"></div>"
      "<button id=\"more\" type=\"button\" hidden>more</button></section>\n"
      "<section id=\"weight\" hidden><h2>What the device code weighs</h2><p id=\"total\"></p>\n"
      "<div class=\"key\"><div><span class=\"mark stored\"></span> in the file</div>"
      "<div><span class=\"mark inflated\"></span> inflated</div></div>\n"
      "<h3>By architecture</h3><ul class=\"bars\" id=\"archs\"></ul>\n"
      "<div id=\"kernels_part\"><h3>The largest kernels</h3><div class=\"bars\" id=\"kernels\"></div></div>\n"
      "</section>\n</main>\n"
      "<dialog id=\"panel\" aria-label=\"what a cell is about\"><button class=\"close\" id=\"close\" "
      "type=\"button\">close</button><div id=\"content\"></div></dialog>\n");
  if (!options_.version.empty())
    sink.write("<footer class=\"soft\">archguard " + html_escape(options_.version) + "</footer>\n");
  sink.write("<script type=\"application/json\" id=\"data\">");
  {
    ScriptSink script(sink);
    PageData(verification_, options_, script).write();
    script.flush();
  }
  sink.write("</script>\n<script>");
  sink.write(kHtmlScript);
  sink.write("</script>\n</body>\n</html>\n");
}

}  // namespace archguard
