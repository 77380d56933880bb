#include "fatbin/host_function_names.h"

#include "base/mangled_name.h"
#include "base/text.h"
#include "image/symbol_name.h"

namespace archguard::fatbin {

std::string static_function_name(const std::string& kernel) {
  if (!starts_with(kernel, "_Z")) return {};
  if (!starts_with(kernel, "_ZN")) return "_ZL" + kernel.substr(2);
  const auto last = last_plain_name(kernel);
  if (!last || last->is_static || last->end == kernel.size()) return {};
  if (kernel[last->end] != 'I' && kernel[last->end] != 'E') return {};
  return kernel.substr(0, last->begin) + "L" + kernel.substr(last->begin);
}

std::vector<std::string> host_function_names(const std::string& device_name) {
  const std::string kernel(without_file_mark(device_name));
  std::vector<std::string> names{kernel};
  if (auto internal = static_function_name(kernel); !internal.empty()) names.push_back(std::move(internal));
  const auto last = last_plain_name(kernel);
  const bool may_be_c = last && !last->nested && (last->end == kernel.size() || kernel[last->end] != 'I');
  if (may_be_c) names.emplace_back(last->text);
  return names;
}

}  // namespace archguard::fatbin
