#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archguard::doctor {

// A statement of Python that raises a text where a check of the GPU fails.
struct RaisedText {
  std::size_t line = 0;   // of the statement, from 1
  std::string condition;  // "if not current_platform.has_device_capability(80):"
  std::size_t told = 0;   // characters of its text that the error has
};

// What the exceptions in a log say, each with one blank for each run of blanks and line ends; of a text that
// names none all of it. Bounded, however long the text is.
std::vector<std::string> raised_messages(std::string_view error);

// The statement of `source` (a module of Python) that one of these messages comes from, if what leads to it
// is a check of the GPU's compute capability: the condition of the nearest `if`, `elif` or `assert`, or what
// that compares by a name. Literals are compared, and what is filled into them is not: all must stand in one
// message, in their order, as more than a few words.
std::optional<RaisedText> find_capability_gate(std::string_view source,
                                               const std::vector<std::string>& messages);

}  // namespace archguard::doctor
