#include "doctor/diagnose.h"

#include <algorithm>
#include <set>

#include "doctor/checks.h"
#include "doctor/environments.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

std::vector<Checked> what_was_checked(const Facts& facts) {
  std::set<std::string> owners;
  for (const CodeFile& file : facts.code)
    if (file.owner) owners.insert(to_string(*file.owner));
  std::vector<Checked> checked;
  const auto add = [&](FindingId id, const char* one, const char* many, std::size_t count) {
    checked.push_back({id, many, count, one});
  };
  add(FindingId::device_code, "file with device code", "files with device code", facts.code.size());
  add(FindingId::device_code, "package with device code", "packages with device code", owners.size());
  add(FindingId::library_mix, "CUDA library", "CUDA libraries", facts.libraries.size());
  add(FindingId::jit_compiler, "compiler of device code", "compilers of device code", facts.tools.size());
  if (facts.torch)
    add(FindingId::stale_code, "extension in a cache of torch or flashinfer",
        "extensions in caches of torch or flashinfer", facts.stale.size());
  add(FindingId::not_architecture, "file that needs libraries of CUDA or torch",
      "files that need libraries of CUDA or torch", facts.linked.size());
  if (facts.probe)
    add(FindingId::driver, "answer of the driver's libraries", "answers of the driver's libraries", 2);
  add(FindingId::libcuda, "copy of libcuda", "copies of libcuda", facts.libcudas.size());
  add(FindingId::environment, "environment variable", "environment variables", facts.variables.size());
  return checked;
}

std::vector<std::pair<std::string, std::string>> versions_of(const Facts& facts) {
  std::vector<std::pair<std::string, std::string>> versions;
  std::set<std::string> said;
  const auto add = [&](const std::string& name, const std::string& version) {
    if (!version.empty() && said.insert(name).second) versions.emplace_back(name, version);
  };
  if (facts.probe) {
    add("driver", facts.probe->driver_version);
    if (facts.probe->driver_cuda) add("driver CUDA", to_string(*facts.probe->driver_cuda));
  }
  for (const PythonEnvironment& environment : facts.environments) add("python", environment.python);
  std::set<std::string> with_code;
  for (const CodeFile& file : facts.code)
    if (file.owner) with_code.insert(file.owner->name);
  for (const InstalledPackage& each : facts.packages)
    if (with_code.count(each.package.name) != 0 || each.package.name == "torch" ||
        each.package.name == "triton")
      add(each.package.name, each.package.version);
  for (const CodeFile& file : facts.code)
    if (file.owner) add(file.owner->name, file.owner->version);
  for (const JitTool& tool : facts.tools)
    if (tool.version) add(tool.kind, to_string(*tool.version));
  for (const LibraryCopy& copy : facts.libraries)
    if (copy.found_by == "environment" && copy.family != "nvrtc-builtins" && !is_part_of_cudnn(copy.family))
      add("lib" + copy.family, copy.version);
  return versions;
}

// The place of a finding among those that the error is about; behind them all where it is none.
std::size_t place_in_error(const Facts& facts, const Finding& finding) {
  std::size_t place = 0;
  for (const Explanation& each : facts.explained)
    for (const std::string& id : each.findings) {
      if (id == name_of(finding.id)) return place;
      ++place;
    }
  return place;
}

// Does the error speak of this finding? Of the CUDA number that the finding ends in, or of an error that it
// names; else one without a number, of its kind first.
bool speaks_of(const Explanation& error, const Finding& finding) {
  if (!finding.errors.empty() &&
      std::find(finding.errors.begin(), finding.errors.end(), error.id) != finding.errors.end())
    return true;
  if (error.findings.empty()) return false;
  if (!error.code)
    return finding.errors.empty() && finding.subjects.empty() &&
           error.findings.front() == name_of(finding.id);
  return *error.code == finding.code &&
         std::find(error.findings.begin(), error.findings.end(), name_of(finding.id)) != error.findings.end();
}

// What may happen has happened where the error says so.
void raise_by_error(const Facts& facts, std::vector<Finding>& findings) {
  for (Finding& finding : findings)
    for (const std::string& subject : finding.subjects) {
      if (finding.rank != Rank::risk || !holds_word(facts.error_text, subject)) continue;
      finding.rank = Rank::likely;
      finding.evidence.push_back("the error that was given names " + subject);
    }
  for (Finding& finding : findings)
    for (const Explanation& each : facts.explained) {
      if (finding.rank != Rank::risk || !speaks_of(each, finding)) continue;
      finding.rank = Rank::likely;
      finding.evidence.push_back("the error that was given says so: " + each.meaning);
    }
}

// With what is known here in place of the words that an explanation has for it, so that its command can be
// typed.
std::string filled_in(const Facts& facts, std::string text) {
  const auto fill = [&](std::string_view option, std::string_view word, const std::string& value) {
    const std::string whole = std::string(option) + " " + std::string(word);
    for (auto at = text.find(whole); at != std::string::npos && !value.empty(); at = text.find(whole, at + 1))
      text.replace(at + option.size() + 1, word.size(), value);
  };
  const JitTool* nvcc = nvcc_of_builds(facts);
  if (!facts.classes.empty()) fill("--device", "CC", to_string(*facts.classes.front().device.capability));
  if (nvcc != nullptr) {
    fill("--toolkit", "X.Y", to_string(*nvcc->version));
    fill("--nvcc", "NVCC", nvcc->path);
  } else if (facts.torch && facts.torch->cuda) {
    fill("--toolkit", "X.Y", to_string(*facts.torch->cuda));
  }
  return text;
}

std::vector<Told> told_by_error(const Facts& facts) {
  std::vector<Told> told;
  for (const Explanation& each : facts.explained)
    told.push_back({each.id, each.meaning, filled_in(facts, each.fix), each.code.value_or(0)});
  return told;
}

// Was there anything that could be wrong: a driver that answered, code, or what makes or needs some?
bool any_judged(const Facts& facts) {
  const auto is_in_environment = [](const LibraryCopy& copy) { return copy.found_by == "environment"; };
  const auto is_of_package = [](const JitTool& tool) {
    return (tool.kind == "ptxas" || tool.kind == "nvvm") && tool.found_by.empty();
  };
  return facts.probe || facts.torch || !facts.code.empty() || !facts.linked.empty() ||
         !facts.processes.empty() ||
         std::any_of(facts.libraries.begin(), facts.libraries.end(), is_in_environment) ||
         std::any_of(facts.tools.begin(), facts.tools.end(), is_of_package);
}

// One of Python that was read, which may well be without CUDA; a folder or a file is named for its code.
bool any_environment(const Facts& facts) {
  return std::any_of(facts.environments.begin(), facts.environments.end(),
                     [](const PythonEnvironment& each) { return each.kind != "folder"; });
}

// Wanted, and nobody can judge it.
bool any_unjudged(const Facts& facts) {
  for (std::size_t i = 0; i < facts.devices.size(); ++i)
    if (is_wanted(facts.devices[i]) && !facts.devices[i].capability) return true;
  return false;
}

Answer answer_to(const Facts& facts, const Diagnosis& diagnosis) {
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), is_cause)) return Answer::cause;
  if (facts.classes.empty() && facts.devices.empty()) return Answer::no_gpu;
  if (facts.classes.empty() || any_unjudged(facts) || !diagnosis.unread.empty()) return Answer::unknown;
  if (!diagnosis.judged && !any_environment(facts)) return Answer::unknown;
  const auto is_untold = [](const CodeFile& file) {
    if (file.newer_sass && !file.newer_sass->untold_for.empty()) return true;
    return std::any_of(file.fits.begin(), file.fits.end(), [](const FileFit& fit) {
      return fit.state == FileFit::State::unknown ||
             (fit.state == FileFit::State::served && fit.unknown != 0);
    });
  };
  return std::any_of(facts.code.begin(), facts.code.end(), is_untold) ? Answer::unknown : Answer::clean;
}

std::string all_devices_text(const Facts& facts) {
  std::vector<std::size_t> all(facts.classes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return devices_text(facts, all);
}

std::string all_fine_text(const Facts& facts, const Diagnosis& diagnosis) {
  if (facts.code.empty()) return "no package here holds device code, so none can lack code for this GPU";
  const bool any_gap =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
        return each.id == FindingId::device_code && each.rank == Rank::risk && each.code != 0;
      });
  return any_gap ? "but for the risks above, the packages with device code support " + all_devices_text(facts)
                 : "the architectures are fine: every package with device code supports " +
                       all_devices_text(facts) + ", by the headers of its fat binaries";
}

// A risk of the kind that an error without a number is about, which the error does not prove.
const Finding* risk_of_error(const Facts& facts, const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings)
    for (const Explanation& each : facts.explained)
      if (finding.rank == Rank::risk && !each.code && !each.findings.empty() &&
          each.findings.front() == name_of(finding.id))
        return &finding;
  return nullptr;
}

void add_all_fine(const Facts& facts, Diagnosis& diagnosis) {
  if (diagnosis.answer != Answer::clean) return;
  Finding finding{FindingId::not_architecture, Rank::note};
  finding.cause = all_fine_text(facts, diagnosis);
  finding.fix =
      "look elsewhere: memory, a capability check in the program's own source, its log above the error";
  if (!diagnosis.told.empty()) {
    const Told& told = diagnosis.told.front();
    finding.evidence.push_back("the given error means: " + told.meaning);
    if (told.code == kNoKernelImage || told.code == kUnsupportedPtxVersion)
      finding.fix =
          "it comes from code that was not looked at: another environment (--prefix), a cache of extensions, "
          "or what a "
          "running process loaded (--pid)";
    else if (!told.fix.empty())
      finding.fix = told.fix;
  }
  if (const Finding* risk = risk_of_error(facts, diagnosis))
    finding.fix = "see the risk above first: " + risk->cause;
  // The first of what is harmless.
  const auto note = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                 [](const Finding& each) { return each.rank == Rank::note; });
  diagnosis.findings.insert(note, std::move(finding));
}

}  // namespace

Diagnosis diagnose(const Facts& facts) {
  Diagnosis diagnosis;
  diagnosis.asked = facts.asked;
  diagnosis.judged = any_judged(facts);
  for (std::size_t i = 0; i < facts.devices.size(); ++i) diagnosis.devices.push_back(facts.devices[i]);
  for (const auto check : {check_driver, check_libcuda, check_environment, check_library_mix,
                           check_device_code, check_jit_compiler, check_stale_code, check_not_architecture})
    check(facts, diagnosis.findings);
  raise_by_error(facts, diagnosis.findings);
  check_given_error(facts, diagnosis.findings);
  check_capability_gate(facts, diagnosis.findings);
  diagnosis.told = told_by_error(facts);
  diagnosis.unread = facts.unread;
  if (facts.environments.empty() && facts.unread.empty())
    diagnosis.unread.push_back(
        Error{{},
              "no environment found: no venv or conda is active, and no Python in PATH tells "
              "where its packages are",
              "name one: archguard doctor --prefix DIR, or --python EXE"});
  for (const PythonEnvironment& environment : facts.environments)
    diagnosis.environments.push_back(describe(environment));
  diagnosis.checked = what_was_checked(facts);
  diagnosis.versions = versions_of(facts);
  diagnosis.answer = answer_to(facts, diagnosis);
  for (const std::string& note : facts.notes) {
    Finding finding{FindingId::environment, Rank::note};
    finding.cause = note;
    diagnosis.findings.push_back(std::move(finding));
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [&](const Finding& a, const Finding& b) {
                     if (a.rank != b.rank) return a.rank < b.rank;
                     const std::size_t in_a = place_in_error(facts, a), in_b = place_in_error(facts, b);
                     if (in_a != in_b) return in_a < in_b;
                     if (a.id != b.id) return a.id < b.id;
                     return place_in_text(facts, a.package) > place_in_text(facts, b.package);
                   });
  add_all_fine(facts, diagnosis);
  return diagnosis;
}

}  // namespace archguard::doctor
