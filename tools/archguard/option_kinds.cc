#include "option_kinds.h"

#include <algorithm>

namespace archguard {

void add_each(CLI::App& command, const char* name, std::vector<std::string>& values, const char* value,
              const std::string& help) {
  command.add_option(name, values, help + "; may be repeated")
      ->type_name(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void add_one(CLI::App& command, const char* name, std::string& text, const char* value,
             const std::string& help) {
  command.add_option(name, text, help)->type_name(value);
}

std::string value_is_empty() {
  return std::string(kValueEmpty) + "\n" + kValueEmptyFix;
}

// What is wrong with a value, and in a second line the fix: describe_usage() takes both apart.
CLI::Validator one_of(const std::vector<std::string>& choices, const Nicknames& nicknames) {
  return CLI::Validator(
      [choices, nicknames](const std::string& text) {
        if (text.empty()) return value_is_empty();
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string();
        auto meant = did_you_mean(text, choices);
        if (const auto found = nicknames.find(text); found != nicknames.end()) meant = found->second;
        return "is '" + text + "', expected " + join(choices, ", ") +
               (meant ? "\ndid you mean " + *meant + "?" : std::string());
      },
      "");
}

CLI::Validator number_to(std::uint64_t most) {
  return CLI::Validator(
      [most](const std::string& text) {
        const auto number = parse_number(text, most);
        if (number && *number != 0) return std::string();
        return "is '" + text + "', expected a whole number from 1 " +
               (most == kAnyNumber ? "on" : "to " + std::to_string(most));
      },
      "");
}

void add_choice(CLI::App& command, const char* name, std::string& text,
                const std::vector<std::string>& choices, const std::string& help,
                const Nicknames& nicknames) {
  command.add_option(name, text, help)->type_name(join(choices, "|"))->check(one_of(choices, nicknames));
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() != 0;
}

}  // namespace archguard
