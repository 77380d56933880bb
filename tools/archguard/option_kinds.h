#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"

namespace archguard {

// The kinds of options that the commands are made of.

// What people write for a choice, far from its name: k8s, kubernetes.
using Nicknames = std::map<std::string, std::string>;
inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::size_t>::max();

// It takes one value and may be repeated.
void add_each(CLI::App& command, const char* name, std::vector<std::string>& values, const char* value,
              const std::string& help);
void add_one(CLI::App& command, const char* name, std::string& text, const char* value,
             const std::string& help);
void add_choice(CLI::App& command, const char* name, std::string& text,
                const std::vector<std::string>& choices, const std::string& help,
                const Nicknames& nicknames = {});
// A whole number from 1 on.
CLI::Validator number_to(std::uint64_t most);
CLI::Validator one_of(const std::vector<std::string>& choices, const Nicknames& nicknames = {});

// What an option without a value is refused with, as validators say it: what is wrong, and in a second line
// the fix.
inline constexpr const char* kValueEmpty = "is empty";
inline constexpr const char* kValueEmptyFix = "look for a variable that is not set";
std::string value_is_empty();

// --format: those of `formats`, a table of structs with a `name`, that the command takes. The first is the
// default.
template <class Formats, class Format, class Takes>
void add_format(CLI::App& command, const Format*& format, const Formats& formats, Takes takes,
                const std::string& help = "") {
  std::vector<std::string> names;
  for (const Format& each : formats)
    if (takes(each)) names.emplace_back(each.name);
  const auto take = [&format, &formats](const std::string& name) {
    for (const Format& each : formats)
      if (each.name == name) format = &each;
  };
  command.add_option_function<std::string>("--format", take, help + "[" + names.front() + "]")
      ->type_name(join(names, "|"))
      ->check(one_of(names));
}

bool takes_value(const CLI::Option& option);

}  // namespace archguard
