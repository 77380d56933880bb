#include "coverage/choices.h"

#include <algorithm>

#include "coverage/judge_fatbin.h"

namespace archguard {
namespace {

constexpr std::size_t kMostKinds = 1000;

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> kernels = {{"others", KernelState::real, 0},
                                              {"some", KernelState::real, 0}};
  return kernels;
}

}  // namespace

std::vector<FatbinCode> choices_of(const FatbinCode& code) {
  std::vector<FatbinCode> choices;
  for (const Image& image : code.images) {
    choices.emplace_back();
    choices.back().fatbin = code.fatbin;
    choices.back().linked = code.linked;
    choices.back().images = {image};
    choices.back().kernels = code.kernels;
  }
  return choices;
}

bool is_plain_ptx(const Image& image) {
  return image.entry.kind == EntryKind::ptx && image.entry.arch.suffix == Suffix::none;
}

bool holds_plain_ptx_as_data(const FatbinCode& code) {
  return std::any_of(code.images.begin(), code.images.end(), is_plain_ptx);
}

void add_choice(FatbinCode& all, const FatbinCode& code) {
  if (all.images.empty()) {
    all.fatbin = code.fatbin;
    all.fatbin.entries.clear();
    all.linked = code.linked;
    all.kernels = {{"others", true}, {"some", true}};
  }
  for (const Image& image : code.images) {
    if (all.images.size() >= kMostKinds) break;
    Image light = image;
    if (light.code) {
      light.code->kernels = all_kernels();
      light.code->variables.clear();
    }
    all.images.push_back(std::move(light));
  }
}

}  // namespace archguard
