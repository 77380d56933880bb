#include "environment.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "base/text.h"

namespace archguard {
namespace {

struct Variable {
  const char* name;
  std::string JitEnvironment::*told;
};

constexpr Variable kEnvironmentVariables[] = {
    {"CUDA_FORCE_PTX_JIT", &JitEnvironment::forces_jit},
    {"CUDA_FORCE_JIT", &JitEnvironment::forces_jit},
    {"CUDA_DISABLE_PTX_JIT", &JitEnvironment::disables_jit},
    {"CUDA_DISABLE_JIT", &JitEnvironment::disables_jit},
};

Error unknown_name(const std::string& name) {
  std::vector<std::string> known;
  for (const Variable& variable : kEnvironmentVariables) known.emplace_back(variable.name);
  const auto meant = did_you_mean(name, known);
  return {"--env", "no rule knows the variable '" + name + "'",
          meant ? "did you mean " + *meant + "?" : "write one of " + join(known, ", ")};
}

}  // namespace

Result<JitEnvironment> read_environment(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;  // the last setting of a variable counts
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (std::none_of(std::begin(kEnvironmentVariables), std::end(kEnvironmentVariables),
                     [&](const Variable& variable) { return name == variable.name; }))
      return unknown_name(name);
    if (value != "0" && value != "1")
      return Error{{}, name + " is '" + value + "', expected 0 or 1", "--env " + name + "=1"};
    values[name] = value;
  }
  JitEnvironment environment;
  for (const Variable& variable : kEnvironmentVariables)
    if (const auto found = values.find(variable.name); found != values.end() && found->second == "1")
      environment.*(variable.told) = variable.name;
  return environment;
}

std::vector<std::string> settings_of_this_process() {
  std::vector<std::string> settings;
  for (const Variable& variable : kEnvironmentVariables)
    if (const char* value = std::getenv(variable.name); value != nullptr && *value != '\0')
      settings.push_back(std::string(variable.name) + "=" + value);
  return settings;
}

}  // namespace archguard
