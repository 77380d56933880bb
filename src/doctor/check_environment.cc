#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {
namespace {

// With CUDA_FORCE_PTX_JIT the driver passes over SASS: what has no PTX has nothing.
void check_forced_jit(const Facts& facts, const char* name, Findings& findings) {
  if (!is_on(facts, name)) return;
  std::size_t without = 0;
  const CodeFile* first = nullptr;
  for (const CodeFile& file : facts.code)
    if (!file.loose && !file.any_ptx) {
      ++without;
      if (first == nullptr) first = &file;
    }
  Finding finding{FindingId::environment, without != 0 ? Rank::certain : Rank::risk};
  finding.code = without != 0 ? kNoKernelImage : 0;
  finding.cause = value_of(facts, name) + " makes the driver pass over SASS";
  if (first != nullptr) {
    finding.cause += ", and " +
                     count_of(without, "file with device code holds", "files with device code hold") +
                     " no PTX";
    finding.evidence.push_back(who(first->owner, first->path) + ": " + file_name_of(first->path) + " holds " +
                               first->holds);
    finding.package = first->owner;
  }
  finding.fix = std::string("unset ") + name;
  findings.push_back(std::move(finding));
}

void check_forbidden_jit(const Facts& facts, const char* name, Findings& findings) {
  if (!is_on(facts, name)) return;
  std::vector<std::string> dependent;
  std::optional<Package> package;
  for (const CodeFile& file : facts.code)
    for (const FileFit& fit : file.fits)
      if (fit.jit != 0 && fit.sass == 0) {
        dependent.push_back(who(file.owner, file.path) + ": " + file_name_of(file.path));
        if (!package) package = file.owner;
        break;
      }
  Finding finding{FindingId::environment, dependent.empty() ? Rank::risk : Rank::certain, package};
  finding.code = dependent.empty() ? 0 : kJitDisabled;
  finding.cause = value_of(facts, name) + " keeps the driver from compiling PTX";
  if (!dependent.empty()) {
    finding.cause += ", which " + count_of(dependent.size(), "file needs", "files need") + " here";
    finding.evidence.push_back(some_of(dependent, 3));
  }
  finding.fix = std::string("unset ") + name;
  findings.push_back(std::move(finding));
}

void check_hidden(const Facts& facts, Findings& findings) {
  const auto found = facts.variables.find("CUDA_VISIBLE_DEVICES");
  if (facts.probe || found == facts.variables.end()) return;  // the probe tells it better
  if (!trim(found->second).empty() && trim(found->second) != "-1") return;
  Finding finding{FindingId::environment, Rank::risk};
  finding.code = kNoDevice;
  finding.cause = "CUDA_VISIBLE_DEVICES is '" + printable(found->second) + "', which hides every GPU";
  finding.fix = "unset CUDA_VISIBLE_DEVICES";
  findings.push_back(std::move(finding));
}

}  // namespace

void check_environment(const Facts& facts, Findings& findings) {
  check_hidden(facts, findings);
  for (const char* const name : {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"})
    check_forced_jit(facts, name, findings);
  for (const char* const name : {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"})
    check_forbidden_jit(facts, name, findings);
  check_arch_lists(facts, findings);
  check_nvcc(facts, findings);
}

}  // namespace archguard::doctor
