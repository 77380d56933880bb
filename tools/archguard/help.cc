#include "help.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "terminal.h"

namespace archguard {
namespace {

constexpr std::size_t kNameColumns = 28;  // where descriptions begin

// The words of `text` in lines of at most `columns`; a line break in it stays one.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(text, '\n')) {
    std::string line;
    for (const std::string_view word : split(paragraph, ' ')) {
      if (!line.empty() && line.size() + 1 + word.size() > columns) {
        lines.push_back(line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + std::string(word);
    }
    lines.push_back(line);
  }
  return lines;
}

// "-h,--help" → "-h, --help"
std::string with_blanks(const std::string& names) {
  std::string text;
  for (const char c : names) text += c == ',' ? ", " : std::string(1, c);
  return text;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(bool is_long, std::size_t columns) : is_long_(is_long), columns_(columns) {
    label("SUBCOMMAND", "COMMAND");
    label("OPTIONS", "OPTION...");
    label("Usage", "usage");
    label("Positionals", "Arguments");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  std::string make_description(const CLI::App* app) const override {
    std::string sentence = app->get_description() + ".";
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    return join(wrapped(sentence, columns_), "\n") + "\n\n";
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    if (!is_positional) name = with_blanks(name);
    const std::string value = option->get_type_name();
    if (!value.empty()) name += " " + value;
    return entry(name, option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }
  std::string make_footer(const CLI::App* app) const override {
    if (is_long_) return app->get_footer();
    std::string line = app->get_name();
    for (const CLI::App* each = app->get_parent(); each != nullptr; each = each->get_parent())
      line = each->get_name() + " " + line;
    return line + " --help also shows examples and exit statuses.\n";
  }

 private:
  std::string entry(const std::string& name, const std::string& description) const {
    std::string text = "  " + name;
    const std::size_t width = text.size();
    text += width + 2 > kNameColumns ? "\n" + std::string(kNameColumns, ' ')
                                     : std::string(kNameColumns - width, ' ');
    const auto lines = wrapped(description, columns_ - kNameColumns);
    return text + join(lines, "\n" + std::string(kNameColumns, ' ')) + "\n";
  }

  bool is_long_;
  std::size_t columns_;
};

}  // namespace

void end_help(CLI::App& command, const HelpEnd& end) {
  std::string text;
  if (!end.note.empty()) text += end.note + "\n\n";
  text += "Examples:\n";
  for (const std::string& each : end.examples) text += "  " + each + "\n";
  text += "\nExit status:\n";
  for (const auto& [status, meaning] : end.exits)
    text += "  " + std::to_string(status) + "  " + meaning + "\n";
  command.footer(text);
}

void begin_section(CLI::App& command, const std::string& heading) {
  command.option_defaults()->group(heading);
}

void shape_help(CLI::App& app, const std::vector<std::string>& words) {
  const bool is_short = std::find(words.begin(), words.end(), "-h") != words.end();
  app.formatter(std::make_shared<HelpFormatter>(!is_short, columns_for_help()));
  app.set_help_flag();  // commands have their own, under their last section
}

void add_help_option(CLI::App& command) {
  command.set_help_flag("-h,--help", "show this help; -h is short");
}

}  // namespace archguard
