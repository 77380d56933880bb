#include "explain/explain.h"

#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "commands.h"
#include "terminal.h"

namespace archguard {
namespace {

Result<std::string> text_to_explain(const ExplainOptions& options) {
  std::string text = join(options.words, " ");
  if (text == "-") {
    ARCHGUARD_TRY(read, read_text_file("-", kMostExplainedBytes));
    text = std::move(read);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return Error{{}, "the text is empty", kHowToExplain};
  return text;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

Result<int> run_explain(const ExplainOptions& options) {
  ARCHGUARD_TRY(text, text_to_explain(options));
  const std::vector<Explanation> explanations = explain(text);
  if (const std::string& word = options.words.front(); explanations.empty() && is_file(word))
    return Error{{},
                 "'" + printable(word) + "' is a file; explain takes a number or a text",
                 "archguard explain - < " + quoted_for_shell(word)};
  if (options.format == "json")
    print(explanations_json(explanations));
  else if (!explanations.empty())
    print(explanations_text(explanations));
  ARCHGUARD_CHECK(finish_printing());
  if (!explanations.empty()) return kExitKnown;
  if (options.format != "json" || !other_vendor_in(text).empty()) print_error(not_explained(text));
  return kExitNotKnown;
}

}  // namespace archguard
