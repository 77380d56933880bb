#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"

namespace archguard {

inline constexpr const char* kCommands = "Commands";  // the heading of commands in --help

// A command of the program: its options, and what it does once they are parsed.
struct Command {
  const CLI::App* app;
  std::function<Result<int>()> run;
};

// --color and --help, which every command has.
void add_general_options(CLI::App& command);

// Adds a command whose options `define` adds, bound to those that `run` gets.
template <class Options>
CLI::App* add_command(std::vector<Command>& commands, CLI::App& app, const char* name, const char* help,
                      void (*define)(CLI::App&, Options&), Result<int> (*run)(const Options&)) {
  CLI::App* command = app.add_subcommand(name, help)->group(kCommands);
  const auto options = std::make_shared<Options>();
  define(*command, *options);
  add_general_options(*command);
  commands.push_back({command, [options, run] { return run(*options); }});
  return command;
}

void add_commands(std::vector<Command>& commands, CLI::App& app);
// What the CMake package runs: neither in --help nor for anybody else.
void add_cmake_commands(std::vector<Command>& commands, CLI::App& app);

}  // namespace archguard
