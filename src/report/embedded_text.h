#pragma once

#include <string>

#include "coverage/embedded.h"

namespace archguard {

// What is warned of where images that a file holds as data do not serve a device, "NVIDIA T4 (7.5)".
std::string embedded_text(const EmbeddedResult& embedded, const std::string& device);
std::string fix_of_embedded(const EmbeddedResult& embedded);

}  // namespace archguard
