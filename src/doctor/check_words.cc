#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "base/text.h"
#include "compat/driver.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {

std::vector<std::size_t> classes_too_old_for(const Facts& facts, Version runtime, bool& may_have_compat) {
  std::vector<std::size_t> classes;
  const Version needed = lowest_driver_cuda_for_toolkit(runtime);
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    const Device& device = facts.classes[i].device;
    if (!device.driver_cuda || device.cuda_at_least) continue;
    if (*device.driver_cuda >= needed) continue;
    classes.push_back(i);
    may_have_compat |= facts.classes[i].may_have_compat && may_ever_offer(*device.capability, needed);
  }
  return classes;
}

namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

bool holds_word(const std::string& text, const std::string& word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) return true;
  }
  return false;
}

bool is_given(const Facts& facts, int code) {
  return std::any_of(facts.explained.begin(), facts.explained.end(),
                     [&](const Explanation& each) { return each.code == code; });
}

std::size_t place_in_text(const Facts& facts, const std::optional<Package>& package) {
  if (!package || package->name == "torch") return 0;
  std::string module = package->name;
  std::replace(module.begin(), module.end(), '-', '_');
  std::vector<std::string> words = {package->name, module};
  for (const CodeFile& file : facts.code)
    if (file.owner == package)
      if (std::string stem = file_name_of(file.path); stem.find('.') > 4)
        words.push_back(stem.substr(0, stem.find('.')));
  const std::string& text = facts.error_text;
  std::size_t place = 0;
  for (const std::string& word : words)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      if (at == 0 || !is_of_word(text[at - 1])) place = std::max(place, at + 1);
  return place;
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
