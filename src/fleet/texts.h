#pragma once

#include <map>
#include <string>

namespace archguard::fleet {

using Texts = std::map<std::string, std::string>;

// Empty where there is none.
inline std::string text_of(const Texts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() ? std::string() : found->second;
}

}  // namespace archguard::fleet
