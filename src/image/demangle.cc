#include "image/demangle.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

#include "base/answering_child.h"
#include "image/symbol_name.h"

namespace archguard {

std::string with_closed_brackets(std::string text) {
  for (std::size_t at = 0; (at = text.find("> >", at)) != std::string::npos;) text.erase(at + 1, 1);
  return text;
}

namespace {

// A mangled name refers to its own parts (`S_`, `S0_`, `T_`), which refer in turn: a few hundred bytes can
// stand for a text without end, and the demangler has no limit. Up to that many references the text is short;
// real names have up to 200 (of CUTLASS), and are left to a process of their own.
constexpr std::ptrdiff_t kReferencesMost = 24;

std::ptrdiff_t count_references(const std::string& name) {
  return std::count(name.begin(), name.end(), 'S') + std::count(name.begin(), name.end(), 'T');
}

std::string demangle_here(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? with_closed_brackets(text.get()) : name;
}

AnsweringChild& child() {
  static AnsweringChild one(demangle_here);
  return one;
}

std::string demangle_apart(const std::string& name) {
  if (const auto text = child().ask(name)) return *text;
  return name;
}

}  // namespace

void prepare_demangle() {
  child().prepare();
}

std::string demangle(const std::string& name) {
  const std::string own(without_file_mark(name));
  if (own.compare(0, 2, "_Z") != 0) return own;
  return count_references(own) <= kReferencesMost ? demangle_here(own) : demangle_apart(own);
}

}  // namespace archguard
