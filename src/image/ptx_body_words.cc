#include "image/ptx_body_words.h"

namespace archguard {
namespace {

bool begins_declaration(std::string_view opcode) {
  return opcode == ".reg" || opcode == ".param" || opcode == ".local" || opcode == ".shared" ||
         opcode == ".const" || opcode == ".global";
}

bool is_name(std::string_view token) {
  const char first = token[0];
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' || first == '$' ||
         first == '%';
}

}  // namespace

std::string_view PtxBodyWords::next() {
  before_ = token_;
  token_ = lexer_.next();
  while (begins_ && (token_ == ".loc" || token_ == ".file")) {
    lexer_.skip_line();
    token_ = lexer_.next();
  }
  outer_ = !token_.empty() && take(token_);
  return token_;
}

void PtxBodyWords::declare(std::string_view name) {
  if (own_.insert(name).second) declared_.push_back(name);
}

void PtxBodyWords::undeclare(std::string_view name) {
  if (declared_.empty() || declared_.back() != name) return;
  own_.erase(name);
  declared_.pop_back();
}

void PtxBodyWords::begin(bool is_body) {
  own_.clear();
  declared_.clear();
  blocks_.assign(is_body ? 1 : 0, 0);
  end_statement();
}

void PtxBodyWords::end_statement() {
  if (blocks_.empty()) {  // the parameters of a function that is only declared
    own_.clear();
    declared_.clear();
  }
  opcode_ = {};
  operands_ = 0;
  begins_ = true;
  predicate_ = value_ = false;
}

void PtxBodyWords::end_block() {
  if (blocks_.size() < 2) return begin(false);
  for (; declared_.size() > blocks_.back(); declared_.pop_back()) own_.erase(declared_.back());
  blocks_.pop_back();
  end_statement();
}

// `@p` and `@!p`
bool PtxBodyWords::take_predicate(std::string_view token) {
  if (token == "@" && begins_) return predicate_ = true;
  if (!predicate_) return false;
  predicate_ = token == "!";
  return true;
}

bool PtxBodyWords::take(std::string_view token) {
  const bool in_body = !blocks_.empty();
  if (token == ";" || (token == ":" && in_body)) {
    if (token == ":") declare(opcode_);
    end_statement();
    return false;
  }
  if (token == "{") {
    if (in_body ? begins_ : !value_) {
      blocks_.push_back(declared_.size());
      opcode_ = {};
      begins_ = true;
    } else {
      ++operands_;
    }
    return false;
  }
  if (token == "}") {
    if (operands_ != 0)
      --operands_;
    else
      end_block();
    return false;
  }
  if (take_predicate(token)) return false;
  if (begins_) {
    begins_ = false;
    opcode_ = token;
    return false;
  }
  if (token == "=") value_ = true;
  if (token == "<" && begins_declaration(opcode_)) undeclare(before_);  // `f<2>` is f0 and f1
  if (!is_name(token)) return false;
  const bool behind_type = !before_.empty() && before_[0] == '.';
  const bool of_function = before_ == ".func" || before_ == ".entry";
  if (!in_body && behind_type && !of_function) declare(token);  // a parameter
  if (in_body && !value_ && begins_declaration(opcode_) && (behind_type || before_ == ",")) declare(token);
  return own_.count(token) == 0;
}

}  // namespace archguard
