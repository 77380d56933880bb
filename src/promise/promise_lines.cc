// Files of several lines that promise something. What stands under a condition, in another stage of a
// Dockerfile or in another output of a recipe is not the promise of the whole: which of them holds, the text
// does not tell, and that is an error.
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "promise/promise.h"

namespace archguard::promise {
namespace {

// One that ends in a backslash, and a list of an easyconfig that is not closed, go on in the next line.
struct LogicalLine {
  std::string text;
  std::size_t number = 0;  // of its first
};

bool is_open_list(std::string_view line) {
  return starts_with(line, "cuda_compute_capabilities") && line.find('[') != std::string_view::npos &&
         line.find(']') == std::string_view::npos;
}

std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> lines;
  std::size_t number = 0;
  bool list = false, backslash = false;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if ((list || backslash) && starts_with(line, "#")) continue;  // Python and Docker pass over it
    if (!list && !backslash) lines.push_back({{}, number});
    std::string& whole = lines.back().text;
    if (list || is_open_list(line)) line = trim(line.substr(0, line.find('#')));
    whole += (whole.empty() ? "" : " ") + std::string(line);
    list = is_open_list(whole);
    backslash = ends_with(whole, "\\");
    if (backslash) whole.pop_back();
  }
  return lines;
}

// "A=1 B='x y'" as a Dockerfile and a shell divide it.
std::vector<std::string_view> words_of_line(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\t') {
      if (i > begin) words.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (quote != 0) words.push_back(text.substr(begin));
  return words;
}

bool begins_word(std::string_view line, std::string_view word) {
  return line.size() > word.size() && to_lower(line.substr(0, word.size())) == word &&
         (line[word.size()] == ' ' || line[word.size()] == '\t');
}

bool speaks_of_gpus(std::string_view line) {
  for (const char* name :
       {"__cuda_arch", "NVIDIA_REQUIRE_", "cuda_compute_capabilities", "cuda-compute-capabilities"})
    if (line.find(name) != std::string_view::npos) return true;
  return false;
}

class LinesReader {
 public:
  LinesReader(const std::string& file, Promise& promise) : file_(file), promise_(promise) {}

  Result<bool> read(std::string_view text) {
    for (const LogicalLine& line : logical_lines(text)) {
      where_ = file_ + ":" + std::to_string(line.number);
      if (!line.text.empty() && line.text.front() != '#') ARCHGUARD_CHECK(read_logical(line.text));
    }
    if (has_outputs_ && promise_.told.size() > 1)
      return Error{
          file_, "has several outputs: which of them these bounds are for is not known",
          "verify the package itself, or write the bounds of this one: --promise '__cuda_arch >=7.5'"};
    return any_;
  }

 private:
  Status read_logical(const std::string& line) {
    if (begins_word(line, "from") && !promise_.told.empty())
      return Error{where_, "begins another stage, behind bounds of one before: which holds is not known",
                   "name the image: docker inspect IMAGE > image.json, and --promise image.json"};
    has_outputs_ |= line == "outputs:";
    if (ends_with(line, ":")) section_ = line.substr(0, line.size() - 1);
    if (section_ == "build" || section_ == "host") return Done{};
    if (line.find("# [") != std::string::npos && speaks_of_gpus(line.substr(0, line.find('#'))))
      return not_understood(where_, "'" + printable(line) + "' has a selector, which is not evaluated");
    bool found = false;
    for (const std::string_view statement : statements_of(line)) {
      ARCHGUARD_TRY(one, read_line(statement, where_, promise_));
      found |= one;
    }
    any_ |= found;
    const std::string_view code = std::string_view(line).substr(0, line.find(" #"));
    if (found || !speaks_of_gpus(code) || is_bare(code)) return Done{};
    return not_understood(where_, "'" + excerpt(line, 80) + "' is about GPUs, and not understood");
  }

  // `ENV A=1 B=2` are two; `ENV A 1` is one.
  static std::vector<std::string_view> statements_of(std::string_view line) {
    for (const char* keyword : {"env", "export"}) {
      if (!begins_word(line, keyword)) continue;
      const auto words = words_of_line(line.substr(std::string_view(keyword).size()));
      if (!words.empty() && words[0].find('=') != std::string_view::npos) return words;
    }
    return {line};
  }

  // "- __cuda_arch" asks for any GPU; "NVIDIA_REQUIRE_ARCH=" for nothing.
  static bool is_bare(std::string_view code) {
    code = trim(code);
    return ends_with(code, "__cuda_arch") || ends_with(code, "__cuda_arch *") || ends_with(code, "=");
  }

  const std::string& file_;
  Promise& promise_;
  std::string where_, section_;
  bool any_ = false, has_outputs_ = false;
};

}  // namespace

Result<bool> read_lines(std::string_view text, const std::string& file, Promise& promise) {
  return LinesReader(file, promise).read(text);
}

}  // namespace archguard::promise
