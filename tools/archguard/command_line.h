#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace archguard {

inline constexpr const char* kCommands = "Commands";  // the heading of commands in --help

// A command of the program: its options, and what it does once they are parsed.
struct Command {
  const CLI::App* app;
  std::function<void()> define;  // adds its options
  std::function<Result<int>()> run;
};

// --color and --help, which every command has.
void add_general_options(CLI::App& command);

// Adds a command whose options `define` will add, bound to those that `run` gets.
template <class Options>
CLI::App* add_command(std::vector<Command>& commands, CLI::App& app, const char* name, const char* help,
                      void (*define)(CLI::App&, Options&), Result<int> (*run)(const Options&)) {
  CLI::App* command = app.add_subcommand(name, help)->group(kCommands);
  const auto options = std::make_shared<Options>();
  commands.push_back({command,
                      [command, options, define] {
                        define(*command, *options);
                        add_general_options(*command);
                      },
                      [options, run] { return run(*options); }});
  return command;
}

void add_commands(std::vector<Command>& commands, CLI::App& app);
// What the CMake package runs: neither in --help nor for anybody else.
void add_cmake_commands(std::vector<Command>& commands, CLI::App& app);
// Adds the options of the commands that `words` name, or of all where they name none: to add all of them
// takes as long as to look into a small library.
void define_options(const std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace archguard
