#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archguard {

// What somebody pasted, made comparable: escape sequences of terminals are gone, blanks and line ends between
// words are one blank, so that a text is found however it was wrapped. All positions are of `text`.
struct PastedText {
  std::string text;
  std::string lower;                   // the same in small letters, byte for byte
  std::vector<std::size_t> line_ends;  // the blanks that were one, ascending
};
PastedText read_pasted(std::string_view bytes);

struct Found {
  std::size_t begin, end;
};

// The first place where `pattern` stands. `*` is anything up to kMostBetween bytes; blanks and letters are
// compared as in PastedText::lower. Where the pattern begins or ends with a letter, a digit or `_`, so does a
// word there, unless a `*` stands at that end.
inline constexpr std::size_t kMostBetween = 240;
std::optional<Found> find_pattern(const PastedText& pasted, std::string_view pattern);

// The first place where a number is told as an error of CUDA: "CUDA error 209", "cudaError_t = 35", "cuInit
// returned 999", "CUDA_ERROR_209", "[222] Call to cuLinkAddData"; or where the text is nothing but it: "209",
// "error 209:", or numbers: "209 35". Not one of cuBLAS and its like, nor one that counts: "CUDA error: 2
// errors detected".
std::optional<Found> find_error_code(const PastedText& pasted, int code);

}  // namespace archguard
