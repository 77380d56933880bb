#include "usage.h"

#include <algorithm>

#include "base/text.h"
#include "commands.h"
#include "option_kinds.h"

namespace archguard {
namespace {

using Words = std::vector<std::string>;

// Not one of those that the CMake package alone calls, which says nothing by an empty value.
bool is_shown(const CLI::App* command) {
  return !command->get_group().empty();
}

// The commands that were found, the program first.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands = {&app};
  while (!commands.back()->get_subcommands().empty())
    commands.push_back(commands.back()->get_subcommands().back());
  return commands;
}

std::string typed_line(const std::vector<const CLI::App*>& commands) {
  std::string text;
  for (const CLI::App* each : commands) text += (text.empty() ? "" : " ") + each->get_name();
  return text;
}

// Takes apart "--scope: is 'file', …" and "--hollow: 1 required error|warn|off missing", as CLI11 has them,
// and what is wrong from the fix.
Error error_of_value(const CLI::ParseError& error, std::string fix) {
  Error usage{{}, error.what(), std::move(fix)};
  const auto colon = usage.what.find(": ");
  if (starts_with(usage.what, "--") && colon != std::string::npos) {
    if (starts_with(std::string_view(usage.what).substr(colon), ": is ")) {
      usage.what.erase(colon, 1);
    } else if (error.get_name() == "ArgumentMismatch") {
      usage.what = usage.what.substr(0, colon) + " needs a value";
      usage.fix = "give it one, or leave it out";
    }
  }
  if (const auto end = usage.what.find('\n'); end != std::string::npos) {
    usage.fix = usage.what.substr(end + 1);
    usage.what.resize(end);
  }
  return usage;
}

Words names_known_to(const CLI::App& command) {
  Words known;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const CLI::App* sub : command.get_subcommands(is_shown)) known.push_back(sub->get_name());
  return known;
}

std::string name_in(const std::string& word) {
  return word.substr(0, word.find('='));
}

Error unknown_word(const CLI::App& command, const std::string& word, std::string fix) {
  Error usage{{}, "unknown option or argument '" + word + "'", std::move(fix)};
  if (const auto meant = did_you_mean(name_in(word), names_known_to(command)))
    usage.what += "; did you mean '" + *meant + "'?";
  return usage;
}

// Of `--device 8.0 verify FILE`: the words that stand before the command, but belong behind it.
std::optional<Error> words_too_early(const std::vector<const CLI::App*>& commands, const Words& words) {
  const bool any = std::any_of(commands.begin(), commands.end() - 1,
                               [](const CLI::App* each) { return !each->remaining().empty(); });
  if (!any) return std::nullopt;
  Words early, line = {typed_line(commands)};
  std::size_t next = 1;
  for (const std::string& word : words) {
    if (next == commands.size())
      line.push_back(word);
    else if (commands[next]->check_name(word))
      ++next;
    else
      early.push_back(word);
  }
  if (early.empty()) return std::nullopt;
  const std::string first = name_in(early.front());
  if (starts_with(first, "-") && commands.back()->get_option_no_throw(first) == nullptr)
    return unknown_word(*commands.back(), early.front(), typed_line(commands) + " --help");
  const bool ends_options = std::find(line.begin(), line.end(), "--") != line.end();
  line.insert(ends_options ? line.begin() + 1 : line.end(), early.begin(), early.end());
  return Error{{}, "'" + first + "' stands before the command", join(line, " ")};
}

}  // namespace

Words command_words(int argc, char** argv) {
  Words words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& text) { return text.empty() ? value_is_empty() : std::string(); }, "");
  for (CLI::App* command : app.get_subcommands(is_shown))
    for (CLI::Option* option : command->get_options(
             [](const CLI::Option* each) { return each->nonpositional() && takes_value(*each); }))
      option->check(not_empty);
  for (CLI::App* command : app.get_subcommands(is_shown)) refuse_empty_values(*command);
}

Status refuse_cut_off_values(CLI::App& app, const Words& words) {
  const auto commands = app.get_subcommands(
      [&](CLI::App* each) { return !words.empty() && each->check_name(words.front()) && is_shown(each); });
  if (commands.empty()) return Done{};
  const Words rest(words.begin() + 1, words.end());
  if (!commands.front()->get_subcommands([](CLI::App*) { return true; }).empty())
    return refuse_cut_off_values(*commands.front(), rest);
  for (const std::string& word : rest) {
    if (word == "--") break;
    if (!starts_with(word, "--") || word.back() != '=') continue;
    const std::string name = word.substr(0, word.size() - 1);
    const CLI::Option* option = commands.front()->get_option_no_throw(name);
    if (option != nullptr && takes_value(*option)) return Error{{}, name + " " + kValueEmpty, kValueEmptyFix};
  }
  return Done{};
}

bool is_help_of_nothing(const CLI::App& app) {
  const CLI::App& command = *commands_of(app).back();
  const Words extras = command.remaining();
  return !command.get_subcommands(is_shown).empty() &&
         std::any_of(extras.begin(), extras.end(),
                     [](const std::string& each) { return !starts_with(each, "-"); });
}

Error describe_usage(const CLI::App& app, const CLI::ParseError& error, const Words& words) {
  const auto commands = commands_of(app);
  const CLI::App& command = *commands.back();
  const std::string help = typed_line(commands) + " --help";
  if (const auto early = words_too_early(commands, words)) return *early;
  if (const Words extras = command.remaining(); !extras.empty())
    return unknown_word(command, extras.front(), help);
  Words subcommands;
  for (const CLI::App* sub : command.get_subcommands(is_shown)) subcommands.push_back(sub->get_name());
  if (error.get_name() == "RequiredError" && !subcommands.empty())
    return {{}, command.get_name() + " needs a command: " + join(subcommands, " or "), help};
  // A log may be waiting on standard input.
  if (error.get_name() == "RequiredError" && command.get_name() == "explain")
    return error_of_value(error, kHowToExplain);
  return error_of_value(error, help);
}

}  // namespace archguard
