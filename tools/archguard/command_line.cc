#include "command_line.h"

#include <algorithm>

#include "base/colour.h"
#include "commands.h"
#include "doctor_options.h"
#include "fleet.h"
#include "fleet/sources.h"
#include "help.h"
#include "option_kinds.h"
#include "releases/releases.h"
#include "report_files.h"
#include "requirements.h"
#include "requirements/statement.h"

namespace archguard {
namespace {

const std::vector<std::string> kGraves = {"error", "warn", "off"};  // how grave a finding is
constexpr const char* kOneDevice = "a device: 8.6, or 8.6@12.4 where its driver offers CUDA 12.4";
constexpr const char* kInput = "Input";
constexpr const char* kDevices = "Devices";
constexpr const char* kPolicy = "Policy";
constexpr const char* kOutput = "Output";

template <class Format>
bool every(const Format&) {
  return true;
}

bool is_printed(const ReportFormat& format) {
  return format.is_printed;
}

std::string names_of_diff_formats() {
  std::vector<std::string> names;
  for (const DiffFormat& each : diff_formats()) names.emplace_back(each.name);
  return join(names, ", ");
}

CLI::Option* add_paths(CLI::App& command, std::vector<std::string>& paths) {
  return command
      .add_option("PATH", paths,
                  "executable, library, object, archive, .fatbin, .cubin, .ptx, wheel, zip file, package "
                  "(deb, rpm, conda), tar archive, saved container image or folder")
      ->type_name("");
}

void add_needed_options(CLI::App& command, NeededOptions& options) {
  add_one(command, "--sysroot", options.sysroot, "DIR",
          "with --needed: the root of the target system, when cross-compiling");
  add_each(command, "--rpath-link", options.rpath_link, "DIR",
           "with --needed: another folder to search, after those of the loader");
}

void add_report_options(CLI::App& command, ReportChoice& options) {
  begin_section(command, kOutput);
  add_format(command, options.format, report_formats(), is_printed);
  add_one(command, "--output", options.output, "FILE", "write the report to this file");
  add_each(command, "--report", options.reports, "FORMAT=FILE",
           "also write a report to this file (- is standard output): " + names_of_reports());
  command.add_flag("--brief", options.brief, "show failures, warnings, and one line per file");
  command.add_flag("--full", options.full, "name every file and device of a failure; do not shorten names");
}

void define_inspect(CLI::App& command, InspectOptions& options) {
  add_paths(command, options.paths)->required();
  begin_section(command, kInput);
  command.add_flag("--kernels", options.kernels,
                   "read every image and list its kernels: real, empty, trap, unknown");
  command.add_flag("--needed", options.needed,
                   "also the libraries that ELF files need, found as the loader would");
  add_needed_options(command, options.where);
  begin_section(command, "Baseline");
  command.add_flag("--coverage", options.coverage,
                   "with --format json: add the verdict for every known device; archguard diff reads it");
  add_each(command, "--fleet", options.fleets, "FILE", "with --coverage: also the devices of this fleet");
  add_each(command, "--device", options.devices, "CC[@CUDA]", "with --coverage: also this device");
  add_choice(command, "--scope", options.scope, {"fatbin", "library"},
             "with --coverage: as in verify [fatbin]");
  add_choice(command, "--embedded", options.embedded, kGraves, "with --coverage: as in verify [warn]");
  begin_section(command, kOutput);
  add_choice(command, "--by", options.by, {"arch", "kernel", "fatbin", "container"},
             "how to group the text; the JSON always holds everything [arch]");
  add_choice(command, "--sort", options.sort, {"name", "size"},
             "with --by kernel: size shows what each kernel costs over all files, largest first [name]");
  command.add_option("--top", options.top, "with --by kernel --sort size: only the N largest kernels")
      ->type_name("N")
      ->check(number_to(kAnyNumber));
  add_format(command, options.format, report_formats(),
             [](const ReportFormat& format) { return format.inspect != nullptr; });
  end_help(command, {{"archguard inspect app", "archguard inspect libfoo.so --by kernel --sort size --top 20",
                      "archguard inspect dist/*.whl --coverage --format json > baseline.json"},
                     {{0, "everything was read"}, {2, "wrong usage, or something unreadable or unknown"}},
                     {}});
}

void define_verify(CLI::App& command, VerifyOptions& options) {
  add_paths(command, options.paths);
  begin_section(command, kInput);
  add_one(command, "--files-from", options.files_from, "FILE",
          "a file with more PATHs, one per line or separated by NUL; files that are no binaries are skipped");
  command.add_flag("--needed", options.needed,
                   "also the libraries that ELF files need, found as the loader would; scope library");
  command.add_flag("--needed-only", options.needed_only,
                   "only these libraries, not the files that need them");
  add_one(command, "--needed-list", options.needed_list, "FILE",
          "write the paths of these libraries to a file");
  add_needed_options(command, options.where);
  add_each(
      command, "--cache", options.cache, "FOLDER",
      "keep the verdicts on these libraries in this folder, and reuse them while the files do not change");
  begin_section(command, kDevices);
  add_each(command, "--fleet", options.fleets, "FILE",
           "the devices: CSV as nvidia-smi --query-gpu prints it (- is standard input); a line with a reason "
           "in the column excluded is left out");
  add_each(command, "--device", options.devices, "CC[@CUDA]", kOneDevice);
  command.add_flag("--this-machine", options.this_machine, "the GPUs of this machine");
  add_each(command, "--env", options.environment, "NAME=VALUE",
           "an environment variable of the program: CUDA_FORCE_PTX_JIT=1, CUDA_DISABLE_PTX_JIT=1");
  add_one(command, "--excluded", options.excluded, "FILE",
          "JSON of arch_probe select: do not fail on the devices it left out");
  begin_section(command, "Expectations");
  add_one(command, "--expect", options.expect, "LIST",
          "the images that each fat binary must hold: 80-real;90-virtual, or 8.0;9.0+PTX");
  add_each(
      command, "--promise", options.promises, "TEXT|FILE",
      "what metadata says of the files: '__cuda_arch >=7.5', NVIDIA_REQUIRE_ARCH=..., variant.json, ...");
  command.add_flag("--require-ptx", options.require_ptx,
                   "each fat binary must hold plain PTX, for future GPUs");
  begin_section(command, kPolicy);
  add_choice(
      command, "--scope", options.scope, {"fatbin", "container", "library"},
      "library: one image that fits is enough, for libraries that choose among their images; container "
      "is another word for fatbin [fatbin]");
  add_choice(command, "--require", options.require, {"sass", "any"}, "sass: PTX does not count [any]");
  command.add_flag("--require-driver", options.require_driver,
                   "where a device needs PTX, the fleet must say which driver it has");
  add_choice(command, "--driver", options.driver, {"error", "warn"},
             "a driver too old for the file's CUDA runtime, error 35 [error]");
  add_choice(command, "--hollow", options.hollow, kGraves, "kernels that do nothing on a device [warn]");
  add_choice(command, "--partly", options.partly, kGraves,
             "with --scope library: a device that gets far fewer kernels than others [error]");
  add_choice(command, "--embedded", options.embedded, kGraves,
             "a device that fits none of the images that a file embeds as data (bin2c) [warn]");
  add_each(command, "--any-of", options.any_of, "GLOB",
           "of the files that match, a device needs one: 'libx_cuda*.so', 'sm*/x.so'");
  add_one(command, "--waivers", options.waivers, "FILE",
          "CSV kernel,compute_cap,reason: kernels that may be missing");
  add_report_options(command, options.report);
  add_one(command, "--target", options.target, "TARGET", "the CMake target to name in a fix");
  end_help(command, {{"archguard verify app --device 8.6 --device 9.0@12.4",
                      "archguard verify dist/*.whl --fleet fleet.csv --report html=report.html",
                      "archguard verify lib/ --this-machine --scope library"},
                     {{0, "every device is covered"},
                      {1, "a device is not covered"},
                      {2, "wrong usage, or something unreadable or unknown"},
                      {3, "there is no device code"}},
                     {}});
}

void define_report(CLI::App& command, ReportCommandOptions& options) {
  command.add_option("RESULT.json", options.results, "what verify --report json=FILE wrote")
      ->type_name("")
      ->required();
  add_report_options(command, options.report);
  end_help(command, {{"archguard report part*.json", "archguard report part*.json --report html=all.html"},
                     {{0, "every device is covered"},
                      {1, "a device is not covered"},
                      {2, "wrong usage, something unreadable or unknown, or results that do not go together"},
                      {3, "there is no device code"}},
                     {}});
}

void define_diff(CLI::App& command, DiffOptions& options) {
  command
      .add_option("PATH", options.paths,
                  "OLD and NEW: a file, wheel, folder, or JSON of inspect --coverage; with --fleet-from and "
                  "--fleet-to the files that run on both fleets")
      ->required()
      ->type_name("");
  begin_section(command, kDevices);
  add_each(command, "--fleet", options.fleets, "FILE",
           "the devices to compare, as in verify; without any: every known device");
  add_each(command, "--device", options.devices, "CC[@CUDA]", kOneDevice);
  add_one(command, "--fleet-from", options.fleet_from, "OLD.csv", "the devices of today");
  add_one(command, "--fleet-to", options.fleet_to, "NEW.csv", "the devices that replace them");
  begin_section(command, kPolicy);
  add_one(command, "--grow", options.grow, "PERCENT", "device code may grow by at most this much");
  add_choice(command, "--scope", options.scope, {"fatbin", "library"}, "as in verify [fatbin]");
  add_choice(command, "--embedded", options.embedded, kGraves, "as in verify [warn]");
  begin_section(command, kOutput);
  add_format(command, options.format, diff_formats(), every<DiffFormat>);
  add_each(command, "--report", options.reports, "FORMAT=FILE",
           "also write a report to this file (- is standard output): " + names_of_diff_formats());
  end_help(command, {{"archguard diff libfoo.so.1 libfoo.so.2 --fleet fleet.csv",
                      "archguard diff baseline.json dist/*.whl --grow 10",
                      "archguard diff lib/ --fleet-from today.csv --fleet-to 2027.csv"},
                     {{0, "nothing was lost"},
                      {1, "a device lost coverage, or the size grew too much"},
                      {2, "wrong usage, or something unreadable or unknown"}},
                     {}});
}

void define_doctor(CLI::App& command, DoctorOptions& options) {
  command.add_option("PATH", options.paths, "a venv, a conda environment, a folder, a library or a program")
      ->type_name("");
  begin_section(command, kInput);
  add_each(command, "--python", options.pythons, "EXE",
           "the environment of this Python, which is not started; without any: the active one");
  add_each(command, "--prefix", options.prefixes, "DIR",
           "this environment: the folder that holds bin and lib");
  add_each(command, "--pid", options.pids, "PID", "what this process has loaded, and its environment");
  command.get_option("--pid")->check(number_to(std::uint64_t{1} << 22U));
  add_one(command, "--error", options.error, "TEXT",
          "the error that you see, or its number: its checks come first (- is standard input)");
  begin_section(command, kDevices);
  add_each(command, "--fleet", options.fleets, "FILE", "the devices of this fleet, not of this machine");
  add_each(command, "--device", options.devices, "CC[@CUDA]", kOneDevice);
  begin_section(command, kOutput);
  add_format(command, options.format, doctor::doctor_formats(), every<doctor::DoctorFormat>,
             "markdown is for a bug report ");
  command.add_flag("--full", options.full,
                   "show every finding whole; in markdown, also the names of folders and users");
  end_help(command, {{"archguard doctor", "python train.py 2>&1 | archguard doctor --error -",
                      "archguard doctor --python ~/venv/bin/python --device 6.1@12.4"},
                     {{0, "nothing is wrong"},
                      {1, "there is a certain or likely cause"},
                      {2, "wrong usage, or not everything could be read and no cause was found"},
                      {3, "there is no GPU, and none was named"}},
                     "The doctor only reads, and starts no program of the environment."});
}

void define_explain(CLI::App& command, ExplainOptions& options) {
  command
      .add_option("CODE|TEXT", options.words,
                  "a number (209), a name (cudaErrorNoKernelImageForDevice), or a message or traceback; "
                  "several words are one text; - is standard input")
      ->required()
      ->type_name("");
  begin_section(command, kOutput);
  add_choice(command, "--format", options.format, {"text", "json"}, "[text]");
  end_help(command, {{"archguard explain 209", "archguard explain cudaErrorInsufficientDriver",
                      "python train.py 2>&1 | archguard explain -"},
                     {{0, "the error is known"}, {1, "it is not known"}, {2, "wrong usage"}},
                     {}});
}

void define_releases(CLI::App& command, ReleasesOptions& options) {
  command.add_option("PACKAGE", options.package, "torch, torchvision, cupy-cuda12x, ...")
      ->required()
      ->type_name("");
  begin_section(command, kDevices);
  add_each(command, "--device", options.devices, "CC[@CUDA]",
           "a device that the release must support: 6.1, or 8.6@12.4 where its driver offers CUDA 12.4");
  begin_section(command, kPolicy);
  add_one(command, "--python", options.python, "X.Y", "the release must have a wheel for this Python");
  add_choice(command, "--platform", options.platform, platforms(),
             "the machine: Linux on x86-64 or aarch64, or Windows [x86_64]");
  begin_section(command, kOutput);
  add_choice(command, "--format", options.format, {"text", "json"}, "[text]");
  end_help(command, {{"archguard releases torch", "archguard releases torch --device 6.1 --python 3.12",
                      "archguard releases cupy-cuda12x --device 5.2@12.2"},
                     {{0, "a release supports every device"},
                      {1, "no release does"},
                      {2, "wrong usage, or a package that is not in the table"}},
                     {}});
}

void define_fleet_import(CLI::App& command, FleetImportOptions& options) {
  command
      .add_option("FILE", options.files,
                  "what one of the formats prints; several make one fleet; - is standard input")
      ->type_name("")
      ->required();
  std::vector<std::string> names;
  std::string formats = "Formats, and the commands that write them:";
  for (const fleet::FleetSource& each : fleet::fleet_sources()) {
    names.emplace_back(each.name);
    formats += std::string("\n  ") + each.name + ": " + each.command;
  }
  begin_section(command, kInput);
  add_choice(
      command, "--from", options.from, names, "the format, if the content does not show it",
      {{"k8s", "kubernetes"}, {"kubectl", "kubernetes"}, {"scontrol", "slurm"}, {"condor", "htcondor"}});
  begin_section(command, kOutput);
  command.add_option("-o,--output", options.output)->group("");  // to say where the fleet goes
  command.add_flag("--hosts", options.hosts, "name the host of each device: one line per kind and host");
  end_help(command, {{"nvidia-smi -q -x | archguard fleet import - > fleet.csv",
                      "kubectl get nodes -o json | archguard fleet import - > fleet.csv",
                      "archguard fleet import nodes.txt cloud.json --hosts > fleet.csv"},
                     {{0, "the fleet is on standard output"},
                      {2, "wrong usage, or a source that cannot be understood"}},
                     formats});
}

void define_fleet_check(CLI::App& command, FleetCheckOptions& options) {
  command.add_option("FILE", options.files, "fleet files, CSV; - is standard input")
      ->type_name("")
      ->required();
  end_help(command, {{"archguard fleet check fleet.csv"},
                     {{0, "the fleet is complete"},
                      {1, "something is missing, or contradicts itself"},
                      {2, "wrong usage, or unreadable"}},
                     {}});
}

void define_requirements(CLI::App& command, RequirementsOptions& options) {
  add_paths(command, options.paths)->required();
  std::vector<std::string> systems = requirements::systems();
  systems.emplace_back("json");
  begin_section(command, kOutput);
  add_choice(command, "--for", options.system, systems,
             "only in the words of this system, to paste; json holds them all; without it: all, as text");
  add_one(command, "--slurm-map", options.slurm_map, "FILE",
          "CSV feature,compute_cap or gres,compute_cap: what the names of your site stand for");
  begin_section(command, kPolicy);
  add_choice(command, "--scope", options.scope, {"fatbin", "library"}, "as in verify [fatbin]");
  end_help(command, {{"archguard requirements app", "archguard requirements app --for kubernetes",
                      "archguard requirements lib/ --for slurm --slurm-map site.csv"},
                     {{0, "printed"},
                      {1, "nothing true can be said in these words"},
                      {2, "wrong usage, or something unreadable or unknown"},
                      {3, "there is no device code"}},
                     {}});
}

void define_preflight_table(CLI::App& command, PreflightTableOptions& options) {
  command
      .add_option("PATH", options.paths,
                  "the program or library that carries the preflight, then the files whose code it hands to "
                  "the driver")
      ->required()
      ->type_name("");
  begin_section(command, kOutput);
  add_one(command, "--output", options.output, "FILE",
          "[beside the first PATH, with .preflight appended to its name]");
  command.add_flag("--allow-empty", options.allow_empty,
                   "write a table even where there is no device code, and say so");
  end_help(command, {{"archguard preflight-table app", "archguard preflight-table app kernels.fatbin"},
                     {{0, "the table is written"},
                      {2, "wrong usage, or not everything could be read"},
                      {3, "there is no device code"}},
                     {}});
}

}  // namespace

void add_general_options(CLI::App& command) {
  begin_section(command, "General");
  command
      .add_option_function<std::string>(
          "--color", choose_colour, "[auto: on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it]")
      ->type_name("auto|always|never")
      ->check(one_of({"auto", "always", "never"}));
  add_help_option(command);
}

void define_options(const std::vector<Command>& commands, const std::vector<std::string>& words) {
  const auto is_named = [&](const Command& command) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return command.app->check_name(word); });
  };
  const bool any = std::any_of(commands.begin(), commands.end(), is_named);
  for (const Command& command : commands)
    if (!any || is_named(command)) command.define();
}

void add_commands(std::vector<Command>& commands, CLI::App& app) {
  add_command(commands, app, "inspect", "list the device code in files", define_inspect, run_inspect);
  add_command(commands, app, "verify", "prove that files run on every device, or say why not", define_verify,
              run_verify);
  add_command(commands, app, "report", "merge results of verify into one, as if one run had made them",
              define_report, run_report);
  add_command(commands, app, "diff",
              "compare what two releases support and weigh, or one release on two fleets", define_diff,
              run_diff);
  add_command(commands, app, "doctor",
              "find why a Python environment does not run on this GPU, and the line that fixes it",
              define_doctor, run_doctor);
  add_command(commands, app, "explain", "say what a CUDA error means, what causes it and what fixes it",
              define_explain, run_explain);
  add_command(commands, app, "releases",
              "show which releases of a package on PyPI support a GPU, as measured", define_releases,
              run_releases)
      ->alias("serves");
  add_command(commands, app, "requirements",
              "say what files need in the words of container images, schedulers and conda",
              define_requirements, run_requirements);
  CLI::App* fleet =
      app.add_subcommand("fleet", "make the list of devices from what a cluster knows, and check it");
  fleet->group(kCommands)->require_subcommand(1);
  add_command(commands, *fleet, "import",
              "write a fleet from Kubernetes, Slurm, HTCondor, nvidia-smi or DCGM", define_fleet_import,
              run_fleet_import);
  add_command(commands, *fleet, "check", "show what a fleet file leaves out or contradicts",
              define_fleet_check, run_fleet_check);
  add_help_option(*fleet);
  end_help(*fleet, {{"kubectl get nodes -o json | archguard fleet import - > fleet.csv",
                     "archguard fleet check fleet.csv"},
                    {{0, "done"}, {1, "check found something"}, {2, "wrong usage, or unreadable"}},
                    {}});
  add_command(commands, app, "preflight-table",
              "write down what a program holds, for its preflight to read at run time",
              define_preflight_table, run_preflight_table);
  add_help_option(app);
  end_help(app, {{"archguard verify app --device 8.6 --device 9.0",
                  "archguard doctor --error 'no kernel image is available for execution on the device'",
                  "archguard explain 222"},
                 {{0, "good"},
                  {1, "a device is not covered, or a cause was found"},
                  {2, "wrong usage, or something unreadable or unknown"},
                  {3, "there is no device code, or no GPU"}},
                 "`archguard COMMAND --help` explains a command.\nDocumentation: "
                 "https://git.example.com/archguard.git"});
}

}  // namespace archguard
