#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/colour.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "commands.h"
#include "compat/driver_text.h"
#include "device/fleet.h"
#include "device/probe.h"
#include "device/system.h"
#include "doctor/diagnose.h"
#include "doctor/doctor_report.h"
#include "doctor/environments.h"
#include "doctor/gather.h"
#include "doctor_options.h"
#include "explain/explain.h"
#include "terminal.h"
#include "verify_question.h"

namespace archguard {
namespace {

// The variables that a check looks at.
constexpr const char* kDoctorVariables[] = {"PATH",
                                            "LD_LIBRARY_PATH",
                                            "CUDA_HOME",
                                            "CUDA_PATH",
                                            "CUDA_ROOT",
                                            "CUDA_VISIBLE_DEVICES",
                                            "CUDA_FORCE_JIT",
                                            "CUDA_FORCE_PTX_JIT",
                                            "CUDA_DISABLE_JIT",
                                            "CUDA_DISABLE_PTX_JIT",
                                            "CUDAARCHS",
                                            "FLASHINFER_CUDA_ARCH_LIST",
                                            "FLASHINFER_WORKSPACE_BASE",
                                            "TORCH_CUDA_ARCH_LIST",
                                            "TORCH_EXTENSIONS_DIR",
                                            "TRITON_PTXAS_PATH",
                                            "BNB_CUDA_VERSION",
                                            "NUMBA_CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY",
                                            "TRITON_PTXAS_BLACKWELL_PATH"};

// The devices that are named, else those of this machine, with what its drivers say.
Status find_devices(const DoctorOptions& options, doctor::Facts& facts) {
  for (const std::string& path : options.fleets) {
    ARCHGUARD_TRY(added, read_fleet(path, facts.devices));
    if (added == 0) return no_device_in_fleet(path);
  }
  for (const std::string& text : options.devices) {
    ARCHGUARD_TRY(device, parse_device_option(text));
    facts.devices.push_back(device);
  }
  if (options.fleets.empty() && options.devices.empty()) {
    facts.probe = probe_this_machine(kProbeTimeout);
    for (const Device& device : facts.probe->devices) facts.devices.push_back(device);
  }
  facts.classes = classes_of(facts.devices);
  return Done{};
}

// What the text means that was given; nothing is known of one that is empty.
Status read_error(const DoctorOptions& options, doctor::Facts& facts) {
  if (options.error.empty()) return Done{};
  std::string text = options.error;
  if (text == "-") {
    ARCHGUARD_TRY(read, read_text_file("-", kMostExplainedBytes));
    text = std::move(read);
    if (trim(text).empty())
      return Error{"--error -", "standard input is empty",
                   "pipe the error to it: python run.py 2>&1 | archguard doctor --error -"};
  }
  facts.explained = explain(text);
  facts.error_text = text;
  if (const std::string vendor = other_vendor_in(text); !vendor.empty())
    facts.notes.push_back("the text of --error is of " + vendor +
                          ", not of NVIDIA's CUDA: it is not explained");
  return Done{};
}

// With quotes where a shell needs them.
std::string typed(const std::string& word) {
  constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:@,%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The line that asked, without devices.
std::string line_typed(const DoctorOptions& options) {
  std::string line = "archguard doctor";
  const auto add = [&line](const std::string& option, const std::vector<std::string>& values) {
    for (const std::string& each : values) line += option + " " + printable(typed(each));
  };
  add("", options.paths);
  add(" --prefix", options.prefixes);
  add(" --python", options.pythons);
  add(" --pid", options.pids);
  constexpr std::size_t kMostShown = 60;
  if (options.error.size() > kMostShown)
    line += " --error TEXT";
  else if (!options.error.empty())
    add(" --error", {options.error});
  return line;
}

Status check_paths(const DoctorOptions& options) {
  std::error_code error;
  for (const std::string& path : options.paths)
    if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
      return Error{printable(path), "no such file or folder", fix_of_missing(path)};
  return Done{};
}

void warn_of_unknown_devices(const doctor::Facts& facts) {
  for (const DeviceClass& each : facts.classes)
    if (const std::string text = unknown_device_text(*each.device.capability); !text.empty())
      print_warning({{}, text, {}});
}

std::string path_of_this_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

class DoctorDocument : public TextSource {
 public:
  DoctorDocument(const doctor::Diagnosis& diagnosis, const DoctorOptions& options)
      : diagnosis_(diagnosis), options_(options) {}
  void write_to(TextSink& sink) const override {
    doctor::ReportWords words;
    words.full = options_.full;
    words.home = environment("HOME").value_or("");
    for (const char* const name : {"USER", "LOGNAME", "SUDO_USER"})
      if (auto user = environment(name)) words.users.push_back(std::move(*user));
    words.host = host_name();
    options_.format->write(diagnosis_, words, Style{colour_for_stdout()}, sink);
  }

 private:
  const doctor::Diagnosis& diagnosis_;
  const DoctorOptions& options_;
};

int status_of(doctor::Answer answer) {
  switch (answer) {
    case doctor::Answer::clean:
      return 0;
    case doctor::Answer::cause:
      return 1;
    case doctor::Answer::unknown:
      return 2;
    case doctor::Answer::no_gpu:
      break;
  }
  return 3;
}

}  // namespace

Result<int> run_doctor(const DoctorOptions& options) {
  doctor::Facts facts;
#if defined(__aarch64__)
  facts.platform = "aarch64";
#endif
  facts.asked = line_typed(options);
  ARCHGUARD_CHECK(check_paths(options));
  ARCHGUARD_CHECK(read_error(options, facts));
  ARCHGUARD_CHECK(find_devices(options, facts));
  warn_of_unknown_devices(facts);
  for (const char* const name : kDoctorVariables)
    if (const auto value = environment(name)) facts.variables[name] = *value;
  std::vector<int> pids;
  for (const std::string& pid : options.pids) pids.push_back(std::stoi(pid));
  doctor::find_environments(
      {options.paths, options.pythons, options.prefixes, pids, path_of_this_program(), environment}, facts);
  doctor::GatherQuestion question;
  question.home = environment("HOME").value_or("");
  doctor::gather(question, facts);
  if (!facts.error_text.empty() && facts.explained.empty() && !facts.gate &&
      other_vendor_in(facts.error_text).empty())
    facts.notes.emplace_back("the text of --error holds no error that is known here");
  const doctor::Diagnosis diagnosis = doctor::diagnose(facts);
  print_source(DoctorDocument(diagnosis, options));
  ARCHGUARD_CHECK(finish_printing());
  return status_of(diagnosis.answer);
}

}  // namespace archguard
