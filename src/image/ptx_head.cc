#include "image/ptx_head.h"

#include <string>

#include "base/text.h"
#include "image/ptx_directives.h"
#include "image/ptx_number.h"

namespace archguard {
namespace {

// No limit of PTX: what keeps a hostile text from costing memory.
constexpr std::size_t kFilesMost = std::size_t{1} << 20;

Error no_file(std::string_view word) {
  return Error{{},
               "PTX has `.file` with what no compiler takes behind it, found '" +
                   std::string(word.substr(0, 40)) + "'",
               {}};
}

}  // namespace

bool is_ptx_head(std::string_view word) {
  return word == ".version" || word == ".target" || word == ".address_size";
}

Status PtxHeadOrder::begin(std::string_view word, std::size_t at) {
  if (!is_ptx_head(word)) {
    stage_ = Stage::body;
    return Done{};
  }
  if (word == ".version" && stage_ != Stage::version)
    return Error{{}, "PTX must be one module, found another `.version` at " + hex(at), {}};
  const bool in_place = word == ".target" ? stage_ == Stage::target || stage_ == Stage::size
                                          : word == ".version" || stage_ == Stage::size;
  if (!in_place)
    return Error{
        {}, "PTX must have `" + std::string(word) + "` in its head alone, found another at " + hex(at), {}};
  stage_ = word == ".version" ? Stage::target : word == ".target" ? Stage::size : Stage::body;
  return Done{};
}

Status PtxFiles::read(PtxLexer& lexer, bool& whole) {
  const std::string_view word = lexer.next();
  whole = false;
  if (word.empty()) return Done{};
  const auto number = parse_ptx_integer(word);
  if (!number || *number > UINT32_MAX) return no_file(word);
  if (!numbers_.insert(*number).second)
    return Error{{}, "PTX has `.file " + std::to_string(*number) + "` twice", {}};
  if (numbers_.size() == kFilesMost)
    return Error{{}, "PTX has more than " + std::to_string(kFilesMost) + " files", {}};
  if (!lexer.next_string()) {
    const std::string_view other = lexer.next();
    return other.empty() ? Status(Done{}) : no_file(other);
  }
  std::size_t numbers = 0;
  for (PtxLexer ahead = lexer; ahead.next() == ","; ahead = lexer) {
    if (++numbers > 2) return no_file(",");
    const std::string_view value = ahead.next();
    if (!value.empty() && kind_of_ptx_number(value) != PtxNumber::integer) return no_file(value);
    lexer = ahead;
  }
  whole = true;
  return Done{};
}

}  // namespace archguard
