#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace archguard::fleet {

// What an XML document holds, in order. Texts come in pieces.
struct XmlHandler {
  std::function<void(const char* name, const char** attributes)> begin;  // names and values, ended by null
  std::function<void(const char* name)> end;
  std::function<void(std::string_view piece)> text;
};

// Reads it with libexpat, which is loaded here and is no dependency: where it is missing, the error says what
// to install. Entities that a document declares are not expanded.
Status read_xml(std::string_view document, const std::string& file, const XmlHandler& handler);

}  // namespace archguard::fleet
