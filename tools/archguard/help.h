#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace archguard {

// What --help says behind the options: the commonest command lines, then what each exit status means.
struct HelpEnd {
  std::vector<std::string> examples;
  std::vector<std::pair<int, std::string>> exits;
  std::string note;  // a paragraph of its own in front of both, or empty
};

void end_help(CLI::App& command, const HelpEnd& end);

// From here on, the options that are added to the command stand under this heading.
void begin_section(CLI::App& command, const std::string& heading);

// Gives the program help that fits the terminal. -h is short; --help also shows examples and exit statuses.
// Call it before commands are added, which inherit it.
void shape_help(CLI::App& app, const std::vector<std::string>& words);

// -h and --help of this command, under the section that was begun last.
void add_help_option(CLI::App& command);

}  // namespace archguard
