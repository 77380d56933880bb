#include "base/printable.h"
#include "base/text.h"
#include "explain/explain.h"

namespace archguard {
namespace {

constexpr std::size_t kMostFound = 200;

std::string excerpt_of(const std::string& found) {
  return found.size() <= kMostFound ? found : found.substr(0, kMostFound) + "…";
}

std::string title_of(const Explanation& explanation) {
  if (!explanation.code) return explanation.id;
  return "error " + std::to_string(*explanation.code) +
         (explanation.names.empty() ? std::string() : ", " + join(explanation.names, ", "));
}

void add_line(std::string& text, const char* name, const std::string& what) {
  text += std::string("  ") + name + what + "\n";
}

}  // namespace

std::string explanations_text(const std::vector<Explanation>& explanations) {
  if (explanations.empty()) return {};
  const Explanation& first = explanations.front();
  std::string text = title_of(first) + "\n";
  add_line(text, "text:   ", "\"" + printable(excerpt_of(first.found)) + "\"");
  add_line(text, "means:  ", first.meaning);
  for (const std::string& each : first.here) add_line(text, "here:   ", printable(each));
  for (const std::string& each : first.causes) add_line(text, "cause:  ", each);
  add_line(text, "check:  ", first.check);
  add_line(text, "fix:    ", first.fix);
  add_line(text, "sure:   ", first.sure);
  for (std::size_t i = 1; i < explanations.size(); ++i)
    text += "also: " + title_of(explanations[i]) + ": " + explanations[i].meaning + "\n";
  return text;
}

}  // namespace archguard
