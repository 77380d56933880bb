// archguard: what runs after the build. Options here; each command in its own file.
#include <CLI/CLI.hpp>
#include <new>

#include "base/text.h"
#include "cmakedir.h"
#include "commands.h"
#include "terminal.h"

namespace {

using namespace archguard;

void add_needed_options(CLI::App& command, NeededOptions& options) {
  command.add_option("--sysroot", options.sysroot,
                     "the root of the system that they are for, where it is another");
  command
      .add_option("--rpath-link", options.rpath_link,
                  "a folder where the linker found them, asked after the loader's own")
      ->allow_extra_args(false);
}

CLI::App* add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App* command = app.add_subcommand("inspect", "list the device code that files hold");
  command
      ->add_option("PATH", options.paths,
                   "executable, library, object, archive, .fatbin, .cubin, .ptx, wheel, zip file or folder")
      ->required();
  command->add_flag("--kernels", options.kernels,
                    "read every image and list its kernels: real, empty, trap, unknown");
  command->add_flag("--needed", options.needed,
                    "also the libraries that ELF files need, found as the loader would");
  add_needed_options(*command, options.where);
  command->add_option("--by", options.by, "what the text is grouped by; the JSON always holds all [arch]")
      ->check(CLI::IsMember({"arch", "kernel", "container"}));
  command->add_option("--format", options.format, "[text]")->check(CLI::IsMember({"text", "json"}));
  command->footer("Exit: 0 all was read, 2 something could not be read or is unknown.");
  return command;
}

CLI::App* add_verify(CLI::App& app, VerifyOptions& options) {
  CLI::App* command = app.add_subcommand("verify", "prove that files run on every device, or say why not");
  command->add_option(
      "PATH", options.paths,
      "executable, library, object, archive, .fatbin, .cubin, .ptx, wheel, zip file or folder");
  command->add_option("--files-from", options.files_from,
                      "a file with more PATHs, one a line; what is no binary is passed over");
  command->add_option("--fleet", options.fleets, "the devices: CSV as nvidia-smi --query-gpu prints it")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options.devices,
                   "one device: 8.6, or 8.6@12.4 with the CUDA that its driver offers")
      ->allow_extra_args(false);
  command->add_flag("--this-machine", options.this_machine, "the GPUs of this machine");
  command
      ->add_option("--env", options.environment,
                   "the program runs with this: CUDA_FORCE_PTX_JIT=1, CUDA_DISABLE_PTX_JIT=1")
      ->allow_extra_args(false);
  command->add_option("--expect", options.expect,
                      "each container holds these images: 80-real;90-virtual, or 8.0;9.0+PTX");
  command->add_option("--excluded", options.excluded,
                      "JSON of arch_probe select: devices that it left out are no failure");
  command->add_flag("--needed", options.needed,
                    "also the libraries that ELF files need, found as the loader would; scope library");
  command->add_flag("--needed-only", options.needed_only,
                    "these libraries, and not the files that need them");
  command->add_option("--needed-list", options.needed_list,
                      "write the paths of these libraries to this file");
  add_needed_options(*command, options.where);
  command
      ->add_option("--scope", options.scope,
                   "library: some image fits; for libraries that choose among images [container]")
      ->check(CLI::IsMember({"container", "library"}));
  command->add_option("--require", options.require, "sass: PTX is no answer [any]")
      ->check(CLI::IsMember({"sass", "any"}));
  command->add_flag("--require-ptx", options.require_ptx, "each container holds plain PTX, for GPUs to come");
  command->add_flag("--require-driver", options.require_driver,
                    "every device must tell its driver where PTX is needed");
  command->add_option("--hollow", options.hollow, "kernels that do nothing on a device [warn]")
      ->check(CLI::IsMember({"error", "warn", "off"}));
  command->add_option("--waivers", options.waivers,
                      "CSV kernel,compute_cap,reason: kernels that may be absent");
  command->add_option("--target", options.target, "the CMake target that a fix names");
  command->add_option("--format", options.format, "[text]")->check(CLI::IsMember({"text", "json"}));
  command->add_option("--output", options.output, "write the report to this file");
  command->add_flag("--brief", options.brief, "only failures, warnings and one line a file");
  command->footer(
      "Exit: 0 every device covered, 1 a device is not covered, 2 usage, unreadable or unknown, 3 no device "
      "code.");
  return command;
}

// "unknown option --flet; did you mean --fleet?"
Error describe_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  for (const CLI::App* chosen : app.get_subcommands()) command = chosen;
  Error usage{{}, error.what(), "archguard " + (command == &app ? "" : command->get_name() + " ") + "--help"};
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  if (command == &app)
    for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  for (const std::string& extra : command->remaining()) {
    usage.what = "unknown option or argument '" + extra + "'";
    const std::string name = extra.substr(0, extra.find('='));
    if (const auto meant = did_you_mean(name, known)) usage.what += "; did you mean '" + *meant + "'?";
    break;
  }
  return usage;
}

int finish(const Result<int>& result) {
  if (result) return *result;
  print_error(result.error());
  return kExitUnreadable;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("archguard proves that CUDA binaries run on every device of a fleet");
  app.set_version_flag("--version", "archguard " ARCHGUARD_VERSION);
  bool cmakedir = false;
  app.add_flag("--cmakedir", cmakedir, "print the folder of ArchGuardConfig.cmake");
  app.require_subcommand(0, 1);
  InspectOptions inspect_options;
  VerifyOptions verify_options;
  const CLI::App* inspect = add_inspect(app, inspect_options);
  const CLI::App* verify = add_verify(app, verify_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    print_error(describe_usage(app, error));
    return kExitUnreadable;
  }
  try {
    if (inspect->parsed()) return finish(run_inspect(inspect_options));
    if (verify->parsed()) return finish(run_verify(verify_options));
  } catch (const std::bad_alloc&) {
    print_error({{}, "not enough memory for an image of these files", {}});
    return kExitUnreadable;
  }
  if (cmakedir) return finish(print_cmakedir());
  print_error({{}, "no command", "archguard --help"});
  return kExitUnreadable;
}
