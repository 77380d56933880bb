#include "coverage/other_order.h"

#include <utility>

#include "compat/rules.h"
#include "coverage/fit.h"

namespace archguard {
namespace {

// The end of a fat binary whose image is taken: whether it runs, else the error, and how many kernels and
// variables the image lacks.
struct End {
  bool runs = false;
  int code = 0;
  std::size_t missing = 0;

  bool covers() const { return runs && missing == 0; }
};

End end_of(const FatbinCode& code, const Judgement& judgement, std::size_t image) {
  const bool runs = judgement.verdict == Verdict::sass || judgement.verdict == Verdict::jit;
  if (!runs) return {false, judgement.code, 0};
  const KernelGaps gaps = compare_kernels(code, image);
  return {true, 0, gaps.missing.size() + gaps.variables.size()};
}

std::string text_of(const End& end) {
  if (!end.runs)
    return end.code == 0 ? "be no answer to what was asked for"
                         : "fail with error " + std::to_string(end.code);
  if (end.missing == 0) return "run";
  return end.missing == 1 ? "lack a kernel or variable"
                          : "lack " + std::to_string(end.missing) + " kernels or variables";
}

// Two images of one name may differ in their ISA.
std::string described(const FatbinEntry& entry) {
  return image_name(entry) + (entry.ptx_isa ? " (ISA " + to_string(*entry.ptx_isa) + ")" : "");
}

bool is_choice(const Image& image, ComputeCapability device) {
  if (!image.unknown.empty() || !image.code) return false;
  if (image.entry.kind == EntryKind::sass) return sass_fits(image.entry.arch, device) == Fit::yes;
  return image.entry.kind == EntryKind::ptx && ptx_fits(image.entry.arch, device) == Fit::yes;
}

}  // namespace

std::optional<std::size_t> linker_choice(const FatbinCode& code, ComputeCapability device) {
  std::optional<std::size_t> taken;
  const auto before = [&](const FatbinEntry& entry, const FatbinEntry& earlier) {
    const auto order = [](const FatbinEntry& each) {
      return std::make_pair(each.arch.number, each.kind == EntryKind::sass);
    };
    return order(entry) == order(earlier) ? is_taken_before(entry, earlier, device)
                                          : order(entry) > order(earlier);
  };
  for (std::size_t i = 0; i < code.images.size(); ++i)
    if (is_choice(code.images[i], device) &&
        (!taken || before(code.images[i].entry, code.images[*taken].entry)))
      taken = i;
  return taken;
}

std::optional<std::string> other_order(const FatbinCode& code, const Device& device,
                                       const JudgePolicy& policy, const Judgement& judgement) {
  const JitEnvironment& environment = policy.environment;
  if (!judgement.image || !environment.forces_jit.empty() || !environment.disables_jit.empty()) return {};
  const auto other = linker_choice(code, *device.capability);
  if (!other || *other == *judgement.image) return {};

  FatbinCode alone;
  alone.fatbin = code.fatbin;
  alone.linked = code.linked;
  alone.images.push_back(code.images[*other]);
  alone.kernels = code.kernels;
  alone.variables = code.variables;
  const Judgement taken = judge(alone, device, policy);
  if (taken.verdict == Verdict::unknown || taken.verdict == Verdict::nothing) return {};
  const End published = end_of(code, judgement, *judgement.image), linked = end_of(code, taken, *other);
  if (published.covers() == linked.covers()) return {};
  return "the verdict goes by " + described(code.images[*judgement.image].entry) + "; by nvJitLink's order " +
         described(code.images[*other].entry) + " would be taken, and " + text_of(linked);
}

}  // namespace archguard
