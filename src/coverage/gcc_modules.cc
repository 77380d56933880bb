#include "coverage/gcc_modules.h"

#include <algorithm>

#include "image/builtin_functions.h"

namespace archguard {
namespace {

// Adds what a link needs of this module, but for names.
void join_module(Image& all, const Image& module) {
  all.entry.arch = std::max(all.entry.arch, module.entry.arch);
  all.entry.ptx_isa = std::max(all.entry.ptx_isa, module.entry.ptx_isa);
  ImageKernels& code = *all.code;
  code.parameters = std::max(code.parameters, module.code->parameters);
  if (const auto& call = module.code->newest_call) add_call(code.newest_call, call->name);
  take_graver(code.refused, module.code->refused);
  code.kernels.insert(code.kernels.end(), module.code->kernels.begin(), module.code->kernels.end());
}

}  // namespace

bool is_of_gcc(const FatbinCode& code) {
  return code.fatbin.bare && !code.images.empty() &&
         std::all_of(code.images.begin(), code.images.end(),
                     [](const Image& image) { return image.code && image.code->by_gcc; });
}

void GccModules::add(const std::string& place, const FatbinCode& code) {
  if (place_.empty() && !code.kernels.empty()) place_ = place;
  const ImageKernels& module = *code.images.front().code;
  defined_.insert(module.names.defined.begin(), module.names.defined.end());
  wanted_.insert(module.names.wanted.begin(), module.names.wanted.end());
  if (all_) return join_module(all_->images.front(), code.images.front());
  all_ = code;
  all_->images.front().code->names = {};
}

std::optional<GccModules::Joined> GccModules::join() const {
  if (place_.empty()) return std::nullopt;
  Joined joined{place_, *all_};
  Image& image = joined.code.images.front();
  ImageKernels& code = *image.code;
  code.relocatable = false;
  code.names.wanted.assign(wanted_.begin(), wanted_.end());
  std::sort(code.kernels.begin(), code.kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  joined.code.kernels.clear();
  for (const Kernel& kernel : code.kernels)
    if (joined.code.kernels.empty() || joined.code.kernels.back().name != kernel.name)
      joined.code.kernels.push_back({kernel.name, kernel.state == KernelState::real});
  const auto lacking = std::find_if(wanted_.begin(), wanted_.end(),
                                    [&](const std::string& name) { return defined_.count(name) == 0; });
  if (lacking != wanted_.end())
    image.unknown = "'" + *lacking +
                    "' is declared in its PTX, which GCC made for linking, and defined in none of the file";
  return joined;
}

}  // namespace archguard
