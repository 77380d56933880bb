#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {
namespace {

std::vector<std::size_t> lacking_in(const CodeFile& code) {
  std::vector<std::size_t> lacking;
  for (std::size_t i = 0; i < code.fits.size(); ++i)
    if (code.fits[i].state == FileFit::State::lacking) lacking.push_back(i);
  return lacking;
}

}  // namespace

// torch and flashinfer build an extension of their caches anew when its sources or flags change, and not when
// torch does.
void check_stale_code(const Facts& facts, Findings& findings) {
  for (const StaleFile& file : facts.stale) {
    const std::vector<std::size_t> lacking = lacking_in(file.code);
    if (lacking.empty() && file.missing.empty() && !file.older_than_torch) continue;
    Finding finding{FindingId::stale_code,
                    lacking.empty() && file.missing.empty() ? Rank::risk : Rank::likely};
    finding.cause = "the extension " + file_name_of(file.code.path) + " in " + file.builder + "'s cache ";
    if (!file.missing.empty()) {
      finding.cause += "was built for another torch: undefined symbol " + file.missing.front();
      finding.evidence.push_back("it needs " + count_of(file.missing.size(), "function") + " that " +
                                 to_string(facts.torch->package) + " does not define");
      finding.errors = {"torch-abi"};
    } else if (!lacking.empty()) {
      finding.code = kNoKernelImage;
      finding.cause += "was built for other GPUs than " + devices_text(facts, lacking);
    } else {
      finding.cause += "is older than the installed torch";
    }
    finding.evidence.push_back(file.code.path + (file.code.holds.empty() ? "" : " holds " + file.code.holds));
    if (file.older_than_torch && finding.rank == Rank::likely)
      finding.evidence.emplace_back("it is older than the installed torch");
    finding.fix = "rm -r '" + folder_of(file.code.path) + "'; " + file.builder + " builds it anew";
    findings.push_back(std::move(finding));
  }
}

}  // namespace archguard::doctor
