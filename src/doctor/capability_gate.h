#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace archguard::doctor {

// A statement of Python that raises a text where a check of the GPU fails.
struct RaisedText {
  std::size_t line = 0;       // of the statement, from 1
  std::string condition;      // "if not current_platform.has_device_capability(80):"
  std::size_t told = 0;       // characters of its text that the error has
};

// The statement of `source` (a module of Python) that the text of `error` comes from, if what leads to it is a
// check of the GPU's compute capability. Its literals are compared, and what is filled into them is not: all
// must stand in the error, in their order, as more than a few words.
std::optional<RaisedText> find_capability_gate(std::string_view source, std::string_view error);

// With one blank for each run of blanks and line ends, as both sides of that comparison are.
std::string with_single_blanks(std::string_view text);

}  // namespace archguard::doctor
