#include "coverage/expected_images.h"

#include <algorithm>

#include "base/text.h"

namespace archguard {
namespace {

bool answers(const FatbinEntry& entry, const ExpectedImage& expected) {
  if (entry.arch != expected.arch || !entry.or_archs.empty() || !entry.unknown.empty()) return false;
  switch (entry.kind) {
    case EntryKind::sass:
    case EntryKind::ltoir:
      return expected.sass;
    case EntryKind::ptx:
    case EntryKind::reloc_ptx:
      return !expected.sass;
    case EntryKind::other:
      return false;
  }
  return false;
}

template <class Items, class Test>
bool any(const Items& items, Test test) {
  return std::any_of(items.begin(), items.end(), test);
}

}  // namespace

Expectation expect_images(const FatbinCode& code, const std::vector<ExpectedImage>& expected) {
  if (code.fatbin.entries.empty()) return {};
  const auto is_plain = [](const auto& image) { return image.arch.suffix == Suffix::none; };
  if (expected.empty() ||
      (code.linked && (code.fatbin.relocatable || (!asks_for_image(code) && code.errors.empty()))))
    return {};
  if (!any(code.fatbin.entries, is_plain) && any(expected, is_plain)) return {ExpectVerdict::specific, {}};
  Expectation expectation{ExpectVerdict::holds, {}};
  for (const ExpectedImage& image : expected)
    if (!any(code.fatbin.entries, [&](const FatbinEntry& entry) { return answers(entry, image); }))
      expectation.absent.push_back(image);
  if (!expectation.absent.empty()) expectation.verdict = ExpectVerdict::lacks;
  return expectation;
}

Expectation expect_linked(const Fatbin& linked, const std::vector<const Fatbin*>& parts,
                          const std::vector<ExpectedImage>& expected) {
  if (expected.empty()) return {};
  const auto is_plain = [](const auto& image) { return image.arch.suffix == Suffix::none; };
  const auto holds_plain = [&](const Fatbin* each) { return any(each->entries, is_plain); };
  if (!holds_plain(&linked) && !any(parts, holds_plain) && any(expected, is_plain))
    return {ExpectVerdict::specific, {}};
  Expectation expectation{ExpectVerdict::holds, {}};
  for (const ExpectedImage& image : expected) {
    const auto holds = [&](const Fatbin* each) {
      return any(each->entries, [&](const FatbinEntry& entry) { return answers(entry, image); });
    };
    const bool in_each = !parts.empty() && !image.sass && std::all_of(parts.begin(), parts.end(), holds);
    if (!holds(&linked) && !in_each) expectation.absent.push_back(image);
  }
  if (!expectation.absent.empty()) expectation.verdict = ExpectVerdict::lacks;
  return expectation;
}

std::string to_string(const ExpectedImage& image) {
  return (image.sass ? "SASS of sm_" : "PTX of compute_") + to_string(image.arch);
}

std::string to_string(const std::vector<ExpectedImage>& images) {
  std::vector<std::string> texts;
  for (const ExpectedImage& image : images) texts.push_back(to_string(image));
  return join(texts, ", ");
}

}  // namespace archguard
