#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

// The command line without the program's name, with `help`, `help verify` as `--help`, `verify --help`.
std::vector<std::string> command_words(int argc, char** argv);

// An option whose value is empty would not count, and its gate be gone without a word: no shown command takes
// one.
void refuse_empty_values(CLI::App& app);
// `--output= FILE`, where CLI11 takes FILE for the value.
Status refuse_cut_off_values(CLI::App& app, const std::vector<std::string>& words);

// Was help asked of a command that there is not: `help verfy`?
bool is_help_of_nothing(const CLI::App& app);

// What CLI11 found wrong: "unknown option --flet; did you mean --fleet?"
Error describe_usage(const CLI::App& app, const CLI::ParseError& error,
                     const std::vector<std::string>& words);

}  // namespace archguard
