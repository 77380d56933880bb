#include "report/expect_text.h"

#include <fmt/format.h>

#include "coverage/fix.h"

namespace archguard {

std::optional<Error> vain_expectation(const Verification& all) {
  if (expects_of_data_alone(all))
    return Error{
        {},
        "no fat binary here can be held against the expected images: those held as data are not checked, and "
        "what 'nvcc -dlink' makes is checked for PTX with its objects only",
        "leave --expect out, or verify the .ptx, .cubin or .fatbin files that the images are made of, or the "
        "program that was linked"};
  if (expects_in_vain(all))
    return Error{
        {},
        "every fat binary holds a or f images only, and none of what was asked for",
        "add what was asked for to CMAKE_CUDA_ARCHITECTURES; if it is there, remove -arch and -gencode "
        "flags that override it"};
  return std::nullopt;
}

Error error_of(const FileResult& file, const ExpectFailure& failure) {
  const std::string asked = file.target.name.empty()
                                ? "which was asked for"
                                : "which CUDA_ARCHITECTURES of target '" + file.target.name + "' asks for";
  return {failure.where, fmt::format("lacks {}, {}", to_string(failure.absent), asked),
          fix_for_absent(failure.absent, file.target.name, failure.toolkit)};
}

}  // namespace archguard
