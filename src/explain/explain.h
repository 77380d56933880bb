#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compat/arch.h"

// What an error of CUDA and of those who use it means: a number, a name, or a text that somebody pasted.
namespace archguard {

// More of a text is not read.
inline constexpr std::size_t kMostExplainedBytes = std::size_t{4} << 20;

struct Explanation {
  std::string id;                   // "no-kernel-image": one a cause, and stays
  std::optional<int> code;          // CUDA's number
  std::vector<std::string> names;   // of that number: "cudaErrorNoKernelImageForDevice", …
  std::string found;                // the words of the text that tell it, blanks and line ends made one blank
  std::vector<Arch> archs;          // that these words name: "compute_86"
  std::string meaning;              // one sentence, without a full stop, as all that follows
  std::vector<std::string> here;    // what this very text tells: "ptxas knows sm_121a from CUDA 12.9 on"
  std::vector<std::string> causes;  // the most frequent first
  std::string check;                // the command that proves it
  std::string fix;
  std::string sure;  // how to be sure afterwards
  // Findings of `archguard doctor` ("device-code", "driver", …) that this is about, the first to look at
  // first: its checks come first where a text is given.
  std::vector<std::string> findings;
};

// All that the text tells, the root cause first, each id once. Empty where nothing in it is known: a false
// explanation is worse than none. `text` is a number ("209", "error 209"), a name, a message or a whole
// traceback.
std::vector<Explanation> explain(std::string_view text);

// Whose the text is, where it is not NVIDIA's and so nothing in it is explained: "AMD's ROCm", "ZLUDA"; else
// empty.
std::string other_vendor_in(std::string_view text);

// What to say of a text of which nothing is explained, and what to do: another vendor's, a number that is not
// in the tables, a name that is nearly one of theirs.
Error not_explained(std::string_view text);

// Of the first, in lines; the others are named.
std::string explanations_text(const std::vector<Explanation>& explanations);
// "archguard.explain/1"
std::string explanations_json(const std::vector<Explanation>& explanations);

}  // namespace archguard
