#include "coverage/demanded_names.h"

#include <algorithm>
#include <utility>

namespace archguard {
namespace {

template <class Use>
void for_each_lacking(const FatbinCode& code, std::size_t image, Use use) {
  const KernelGaps gaps = compare_kernels(code, image);
  for (const auto* names : {&gaps.missing, &gaps.variables})
    for (const std::string& name : *names) use(name);
}

}  // namespace

std::vector<std::string> excused_names(const FatbinCode& code, const Judgement& judgement,
                                       const std::function<bool(const std::string&)>& waived) {
  std::vector<std::string> excused;
  for (std::size_t i = 0; i < code.images.size(); ++i)
    for_each_lacking(code, i, [&](const std::string& name) {
      if (judgement.image == i || waived(name)) excused.push_back(name);
    });
  std::sort(excused.begin(), excused.end());
  excused.erase(std::unique(excused.begin(), excused.end()), excused.end());
  return excused;
}

bool holds_all(const FatbinCode& code, std::size_t image, const std::vector<std::string>& excused) {
  bool all = true;
  for_each_lacking(code, image, [&](const std::string& name) {
    all = all && std::binary_search(excused.begin(), excused.end(), name);
  });
  return all;
}

FatbinCode without_names(const FatbinCode& code, const std::vector<std::string>& excused) {
  const std::vector<Kernel> some = {{"some", KernelState::real, 0}};
  const std::vector<Kernel> all = {{"others", KernelState::real, 0}, {"some", KernelState::real, 0}};
  FatbinCode light;
  light.fatbin = code.fatbin;
  light.fatbin.entries.clear();
  light.linked = code.linked;
  light.lto_parts = code.lto_parts;
  for (std::size_t i = 0; i < code.images.size(); ++i) {
    Image image = code.images[i];
    if (image.code) {
      const bool any = !image.code->kernels.empty() || !image.code->variables.empty();
      image.code->kernels = holds_all(code, i, excused) ? all : any ? some : std::vector<Kernel>{};
      image.code->variables.clear();
    }
    light.images.push_back(std::move(image));
  }
  light.kernels = {{"others", true}, {"some", true}};
  return light;
}

}  // namespace archguard
