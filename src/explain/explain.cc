#include "explain/explain.h"

#include <algorithm>

#include "base/text.h"
#include "compat/error_codes.h"
#include "explain/other_vendors.h"
#include "explain/pasted_text.h"
#include "explain/table.h"

namespace archguard {
namespace {

struct Match {
  const KnownError* error;
  Found where;
  std::optional<int> code;
};

// Of a number: its names, what CUDA says of it, or the number itself.
std::optional<Found> find_code(const PastedText& pasted, int code) {
  for (const ErrorNames& names : known_errors()) {
    if (names.code != code) continue;
    for (const std::string_view name : {names.message, names.runtime, names.driver}) {
      if (name.empty()) continue;
      if (const auto found = find_pattern(pasted, name)) return found;
    }
  }
  return find_error_code(pasted, code);
}

std::optional<Match> find_error(const PastedText& pasted, const KnownError& error) {
  const auto only_code = error.codes.size() == 1 ? std::optional(error.codes.front()) : std::nullopt;
  if (pasted.lower == error.id) return Match{&error, {0, pasted.text.size()}, only_code};
  for (const char* pattern : error.patterns)
    if (const auto found = find_pattern(pasted, pattern)) return Match{&error, *found, only_code};
  for (const int code : error.codes)
    if (const auto found = find_code(pasted, code)) return Match{&error, *found, code};
  if (error.old_code != 0)
    if (const auto found = find_error_code(pasted, error.old_code))
      return Match{&error, *found, error.codes.front()};
  return std::nullopt;
}

// With what the text tells in the place of {CC} and {ARCH}.
std::string filled(std::string text, const std::string& device, const std::string& arch) {
  const auto fill = [&text](std::string_view name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  };
  fill("{CC}", device.empty() ? "CC" : device);
  fill("{ARCH}", arch.empty() ? "sm_NN" : arch);
  return text;
}

// The device that a text is about: told as one, else what the first architecture in the slice is for.
std::string device_told_in(std::string_view slice, std::string_view whole) {
  for (const std::string_view text : {slice, whole})
    if (const auto device = device_in(text)) return to_string(*device);
  const auto archs = archs_in(slice);
  return archs.empty() ? std::string() : to_string(capability_of(archs.front()));
}

Explanation explanation_of(const PastedText& pasted, const Match& match) {
  const KnownError& error = *match.error;
  const std::string_view whole = pasted.text;
  const std::string_view slice = whole.substr(match.where.begin, match.where.end - match.where.begin);
  const std::string device = device_told_in(slice, whole);
  const auto archs = archs_in(slice);
  const std::string arch = archs.empty() ? std::string() : "sm_" + to_string(archs.front());
  Explanation explanation;
  explanation.id = error.id;
  explanation.code = match.code;
  if (match.code)
    for (const std::string& name : {error_name(*match.code), cuda_error_name(*match.code)})
      if (!name.empty()) explanation.names.push_back(name);
  explanation.found = slice;
  explanation.archs = archs;
  explanation.meaning = error.meaning;
  if (error.tell != nullptr) explanation.here = error.tell(slice, whole);
  explanation.causes.assign(error.causes.begin(), error.causes.end());
  explanation.check = filled(error.check, device, arch);
  explanation.fix = filled(error.fix, device, arch);
  explanation.sure = filled(error.sure, device, arch);
  explanation.findings.assign(error.findings.begin(), error.findings.end());
  return explanation;
}

}  // namespace

std::vector<Explanation> explain(std::string_view text) {
  const PastedText pasted = read_pasted(text.substr(0, kMostExplainedBytes));
  if (!other_vendor_of(pasted).empty()) return {};
  std::vector<Match> matches;
  for (const auto* table : {&tool_errors(), &framework_errors(), &cuda_errors()})
    for (const KnownError& error : *table)
      if (const auto match = find_error(pasted, error)) matches.push_back(*match);
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    if (a.error->depth != b.error->depth) return a.error->depth < b.error->depth;
    return a.where.begin < b.where.begin;
  });
  std::vector<Explanation> explanations;
  for (const Match& match : matches) explanations.push_back(explanation_of(pasted, match));
  return explanations;
}

std::string other_vendor_in(std::string_view text) {
  return std::string(other_vendor_of(read_pasted(text.substr(0, kMostExplainedBytes))));
}

}  // namespace archguard
