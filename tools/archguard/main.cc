// archguard: what runs after the build. Its commands are in command_line.cc, each does its work in a file of
// its own.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <typeinfo>
#include <unistd.h>

#include "base/standard_streams.h"
#include "cmakedir.h"
#include "command_line.h"
#include "commands.h"
#include "help.h"
#include "terminal.h"
#include "usage.h"

namespace {

using namespace archguard;

int finish(const Result<int>& result) {
  if (result) return *result;
  print_error(result.error());
  return kExitUnreadable;
}

// Says what an exception of lacking memory would have said, and allocates nothing: one that nothing catches,
// as before main or in a thread, or one that lacked the memory for itself. Any other exception is a defect,
// and aborts.
[[noreturn]] void end_without_memory() {
  std::string_view message = "archguard: error: not enough memory to begin\n";
  if (const std::type_info* type = abi::__cxa_current_exception_type()) {
    if (*type != typeid(std::bad_alloc) && *type != typeid(std::bad_array_new_length)) std::abort();
    message = "archguard: error: not enough memory\n";
  }
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
  std::_Exit(kExitUnreadable);
}

// Before anything else of the program is made.
__attribute__((constructor(101))) void prepare_for_no_memory() {
  std::set_terminate(end_without_memory);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams_apart();
  const std::vector<std::string> words = command_words(argc, argv);
  CLI::App app("prove that CUDA binaries run on every GPU of a fleet, or say why not and how to fix it",
               "archguard");
  shape_help(app, words);
  app.set_version_flag("-V,--version", "archguard " ARCHGUARD_VERSION, "show the version");
  bool cmakedir = false;
  app.add_flag("--cmakedir", cmakedir, "show the folder of ArchGuardConfig.cmake");
  app.require_subcommand(0, 1);
  std::vector<Command> commands;
  add_commands(commands, app);
  add_cmake_commands(commands, app);
  define_options(commands, words);

  refuse_empty_values(app);
  if (const auto whole = refuse_cut_off_values(app, words); !whole) return finish(Result<int>(whole.error()));

  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last word first
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0 && !is_help_of_nothing(app)) {  // --help, --version
      const int status = app.exit(error);
      if (const auto printed = finish_printing(); !printed) return finish(Result<int>(printed.error()));
      return status;
    }
    print_error(describe_usage(app, error, words));
    return kExitUnreadable;
  }
  try {
    for (const Command& command : commands)
      if (command.app->parsed()) return finish(command.run());
  } catch (const std::bad_alloc&) {
    print_error({{}, "not enough memory", {}});
    return kExitUnreadable;
  }
  if (cmakedir) return finish(print_cmakedir());
  print(app.help());
  if (const auto printed = finish_printing(); !printed) return finish(Result<int>(printed.error()));
  return kExitUnreadable;  // a script that lost its arguments must not go on
}
