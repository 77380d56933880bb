#pragma once

#include <string>

#include "device/failure_facts.h"

// Parts of sentences that causes of several kinds share.
namespace archguard {

std::string in_file(const std::string& path);            // " (path)", or empty
std::string folder_of_library(const std::string& path);  // "." where it names none
std::string or_unknown(const std::string& version);      // "of unknown version" where it is empty
std::string value_text(const std::string& value);        // of an environment variable: "'1,2'", or "empty"
std::string seen_by_nvml(const FailureFacts& facts);     // "; NVML sees 2 GPUs", or empty
std::string seen_on_bus(const FailureFacts& facts);      // ", though it has …", or empty

}  // namespace archguard
