#include "base/text.h"
#include "compat/driver_text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"

namespace archguard::doctor {
namespace {

std::vector<std::size_t> lacking_in(const CodeFile& code) {
  std::vector<std::size_t> lacking;
  for (std::size_t i = 0; i < code.fits.size(); ++i)
    if (code.fits[i].state == FileFit::State::lacking) lacking.push_back(i);
  return lacking;
}

// Says of an extension for the runtime of another CUDA what is wrong with it: the driver is too old for it,
// or the environment has only another. False where nothing is.
bool tell_runtime(const Facts& facts, const StaleFile& file, Finding& finding) {
  for (const std::string& name : file.needed) {
    const auto library = library_name(name);
    if (library->family != "cudart" || !library->major) continue;
    bool may_have_compat = false;
    const auto classes = classes_too_old_for(facts, {*library->major, 0}, may_have_compat);
    if (!classes.empty()) {
      const Device& device = facts.classes[classes.front()].device;
      finding.code = kInsufficientDriver;
      finding.cause += "was built with CUDA " + std::to_string(*library->major) +
                       ", which the driver is too old for: error " + std::to_string(kInsufficientDriver);
      finding.evidence.push_back("it needs " + name + "; the driver of " + archguard::describe(device) +
                                 " offers " + driver_text(*device.driver_cuda));
      return true;
    }
    if (facts.names_to_find.count(name) != 0) continue;
    for (const LibraryCopy& copy : facts.libraries) {
      if (copy.family != "cudart" || !copy.major || copy.major == library->major) continue;
      finding.cause +=
          "was built with another CUDA: it needs " + name + ", and only other versions of it are here";
      finding.evidence.push_back(describe_copy(copy));
      finding.subjects = {name};
      return true;
    }
  }
  return false;
}

}  // namespace

// torch and flashinfer build an extension of their caches anew when its sources or flags change, and not when
// torch, or the toolkit that it was built with, does.
void check_stale_code(const Facts& facts, Findings& findings) {
  for (const StaleFile& file : facts.stale) {
    const std::vector<std::size_t> lacking = lacking_in(file.code);
    const bool older = file.older_than_torch && (!file.code.holds.empty() || !file.missing.empty());
    Finding finding{FindingId::stale_code, Rank::likely};
    finding.cause = "the extension " + file_name_of(file.code.path) + " in " + file.builder + "'s cache ";
    if (!file.missing.empty()) {
      finding.cause += "was built for another torch: undefined symbol " + file.missing.front();
      finding.evidence.push_back("it needs " + count_of(file.missing.size(), "function") + " that " +
                                 to_string(facts.torch->package) + " does not define");
      finding.errors = {"torch-abi"};
    } else if (!file.told_symbol.empty()) {
      finding.cause += "was built for another torch or CUDA: undefined symbol " + file.told_symbol;
      finding.evidence.emplace_back("the error that was given names the file");
    } else if (!lacking.empty()) {
      finding.code = kNoKernelImage;
      finding.cause += "was built for other GPUs than " + devices_text(facts, lacking);
    } else if (tell_runtime(facts, file, finding)) {
    } else if (older) {
      finding.rank = Rank::risk;
      finding.cause += "is older than the installed torch";
    } else {
      continue;
    }
    finding.evidence.push_back(file.code.path + (file.code.holds.empty() ? "" : " holds " + file.code.holds));
    if (file.older_than_torch && finding.rank == Rank::likely)
      finding.evidence.emplace_back("it is older than the installed torch");
    finding.fix = "rm -r '" + folder_of(file.code.path) + "'; " + file.builder + " builds it anew";
    if (finding.code == kInsufficientDriver)
      finding.fix += ", with an nvcc of a CUDA that the driver supports: export CUDA_HOME=FOLDER";
    findings.push_back(std::move(finding));
  }
}

}  // namespace archguard::doctor
