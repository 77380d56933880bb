#pragma once

#include "base/text_source.h"
#include "coverage/outcome.h"

namespace archguard {

// The document "archguard.verify/1", indented, with a line end.
TextSource verify_json(const Verification& verification);

}  // namespace archguard
