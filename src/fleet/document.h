#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace archguard::fleet {

// Gets the parts of a JSON or YAML document in order. Texts, numbers and truth values are all texts; null is
// an empty one. The handler may stop the reading with an error.
class DocumentHandler {
 public:
  virtual ~DocumentHandler() = default;
  virtual void begin_object() = 0;
  virtual void begin_list() = 0;
  virtual Status end() = 0;  // of the innermost
  virtual void key(std::string& text) = 0;
  virtual void value(std::string& text) = 0;
};

// Reads `text` without holding it a second time. Errors have the line: "nodes.json:17". Nesting is not
// recursion.
Status read_json(std::string_view text, const std::string& file, DocumentHandler& handler);

// The same of YAML by libyaml, where the system has it; several documents come one after the other. Aliases
// and what is nested deeper than anything that is read here are errors.
Status read_yaml(std::string_view text, const std::string& file, DocumentHandler& handler);

}  // namespace archguard::fleet
