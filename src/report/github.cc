#include "report/github.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "base/text.h"
#include "report/findings.h"
#include "report/source_place.h"

namespace archguard {
namespace {

constexpr std::size_t kMostOfLevel = 10;     // annotations of a level and step
constexpr std::size_t kMostMessage = 60000;  // bytes; GitHub cuts at 64 KiB

std::string github_escaped(std::string_view text, std::string_view others) {
  std::string escaped;
  for (const char c : text)
    if (c == '%' || c == '\r' || c == '\n' || others.find(c) != std::string_view::npos)
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      escaped += c;
  return escaped;
}

// Its lines, each without letters that do anything.
std::string annotation_of(const Finding& finding) {
  std::string text = printable(headline_of(finding));
  for (const auto& [label, words] : finding.text.details) text += "\n" + printable(label + ": " + words);
  if (text.size() <= kMostMessage) return text;
  text.resize(kMostMessage);
  while (!is_utf8(text)) text.pop_back();
  return text + "…";
}

}  // namespace

std::string github_message(std::string_view text) {
  return github_escaped(text, "");
}

std::string github_property(std::string_view text) {
  return github_escaped(text, ":,");
}

void GithubReport::write_to(TextSink& sink) const {
  const std::vector<Finding> findings = findings_of(verification_, options_);
  for (const bool warnings : {false, true}) {
    const std::string command = warnings ? "warning" : "error";
    std::vector<const Finding*> of_level;
    for (const Finding& finding : findings)
      if ((finding.level == Finding::Level::warning) == warnings) of_level.push_back(&finding);
    const std::size_t shown = of_level.size() > kMostOfLevel ? kMostOfLevel - 1 : of_level.size();
    for (std::size_t i = 0; i < shown; ++i) {
      std::string properties;
      const auto place = place_of(verification_, *of_level[i], options_);
      if (place && !starts_with(place->path, "/")) {
        properties += "file=" + github_property(printable(place->path)) + ",";
        if (place->line != 0) properties += "line=" + std::to_string(place->line) + ",";
      }
      properties += "title=" + github_property("ArchGuard " + of_level[i]->rule);
      sink.write("::" + command + " " + properties + "::" + github_message(annotation_of(*of_level[i])) +
                 "\n");
    }
    if (shown < of_level.size())
      sink.write("::" + command + " title=ArchGuard::" +
                 github_message("and " + count_of(of_level.size() - shown, "more message", "more messages") +
                                ": the summary of this run and the report have them") +
                 "\n");
  }
}

}  // namespace archguard
