#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/driver.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {

std::vector<std::size_t> classes_too_old_for(const Facts& facts, int major, bool& may_have_compat) {
  std::vector<std::size_t> classes;
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    const Device& device = facts.classes[i].device;
    if (!device.driver_cuda || device.cuda_at_least) continue;
    if (*device.driver_cuda >= lowest_driver_cuda_for_toolkit({major, 0})) continue;
    classes.push_back(i);
    may_have_compat |= facts.classes[i].may_have_compat;
  }
  return classes;
}

std::string devices_text(const Facts& facts, const std::vector<std::size_t>& classes) {
  std::vector<std::string> texts;
  for (const std::size_t each : classes) texts.push_back(archguard::describe(facts.classes[each].device));
  return some_of(texts, 2);
}

std::string who(const std::optional<Package>& owner, const std::string& path) {
  return owner ? to_string(*owner) : file_name_of(path);
}

std::string describe_copy(const LibraryCopy& copy) {
  return copy.path + (copy.version.empty() ? "" : " is " + copy.version) +
         (copy.owner ? " (" + to_string(*copy.owner) + ")" : "") + ", found by " + copy.found_by;
}

std::string some_of(const std::vector<std::string>& texts, std::size_t most) {
  if (texts.size() <= most + 1) return join(texts, ", ");
  const auto shown = static_cast<std::ptrdiff_t>(most);
  return join({texts.begin(), texts.begin() + shown}, ", ") + " and " + std::to_string(texts.size() - most) +
         " more";
}

std::string value_of(const Facts& facts, const char* name) {
  return std::string(name) + "=" + printable(variable(facts, name));
}

bool is_on(const Facts& facts, const char* name) {
  const std::string value = variable(facts, name);
  return !value.empty() && value != "0";
}

}  // namespace archguard::doctor
