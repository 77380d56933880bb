#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace archguard {

// Does a text begin as programs and libraries do: ELF or PE?
bool begins_like_program(std::string_view text);

// The line that makes a fleet file of another file; not of one of the same name, which the shell would empty
// first.
std::string import_line(const std::string& path);

// Why a text is no fleet file, where its first bytes tell what it is: a program, JSON, or what some tool
// prints of GPUs that `archguard fleet import` reads. `path` is as it was given, "-" for standard input.
std::optional<Error> refuse_other_text(std::string_view text, const std::string& path);

}  // namespace archguard
