#pragma once

#include <optional>

#include "base/result.h"
#include "coverage/verification.h"

namespace archguard {

// An expectation that no fat binary of all files could meet, where there is one.
std::optional<Error> vain_expectation(const Verification& verification);

// What one fat binary of the file lacks; what it holds, `failure.found`, is not in it.
Error error_of(const FileResult& file, const ExpectFailure& failure);

}  // namespace archguard
