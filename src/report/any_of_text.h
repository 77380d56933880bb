#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coverage/pickable.h"
#include "coverage/verification.h"
#include "report/style.h"

namespace archguard {

// What is to be said of files of which a device needs one: an error for each device that none of them
// covers, then one line. `group` is one of the verification's.
std::string any_of_text(const Verification& verification, const AnyOf& group, const Style& style);

// Where one file is asked for as alternatives, by its name: what to write instead.
std::optional<Error> no_alternative(const Verification& verification, const AnyOf& group);

// A hint for each: they may be alternatives. Several are one line.
std::string pickable_text(const Verification& verification, const std::vector<Pickable>& images);

// "one of 'libx_cuda*.so'": of an alternative.
std::string globs_text(const Verification& verification, const FileResult& file);

// The name of another file, without the folders or the zip file that it shares with this one.
std::string name_beside(const Verification& verification, std::size_t other, const FileResult& file);

}  // namespace archguard
