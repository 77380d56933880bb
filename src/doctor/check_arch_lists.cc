#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/rules.h"
#include "compat/torch.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {
namespace {

// "8.6+PTX", "86-real", "90a", "sm_86" → what it makes; nothing for names such as Ampere.
struct ListEntry {
  Arch arch;
  bool sass = true, ptx = false;
};
std::optional<ListEntry> read_entry(std::string text) {
  ListEntry entry;
  const auto cut = [&](std::string_view ending) {
    if (!ends_with(text, ending)) return false;
    text.resize(text.size() - ending.size());
    return true;
  };
  while (cut("+PTX")) entry.ptx = true;  // twice is a mistake with one meaning
  if (!entry.ptx) {
    if (cut("-virtual"))
      entry.sass = false, entry.ptx = true;
    else if (!cut("-real") && text.find('.') == std::string::npos)
      entry.ptx = true;  // CMake's 86 is both
  }
  if (starts_with(text, "sm_")) text.erase(0, 3);
  text.erase(std::remove(text.begin(), text.end(), '.'), text.end());
  const auto arch = parse_arch(text);
  if (!arch) return std::nullopt;
  entry.arch = *arch;
  return entry;
}

// What stands between blanks, commas and semicolons.
std::vector<std::string> list_words(std::string list) {
  std::replace_if(
      list.begin(), list.end(), [](char c) { return c == ',' || c == ' '; }, ';');
  std::vector<std::string> words;
  for (const std::string_view text : split(list, ';'))
    if (!trim(text).empty()) words.emplace_back(trim(text));
  return words;
}

// The devices that a list leaves out. None where it holds native, all or another word: then nothing is missed
// for sure.
std::vector<std::size_t> missed_by(const Facts& facts, const std::vector<std::string>& words) {
  std::vector<ListEntry> entries;
  for (const std::string& word : words) {
    const auto entry = read_entry(word);
    if (!entry) return {};
    entries.push_back(*entry);
  }
  std::vector<std::size_t> missed;
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    const ComputeCapability device = *facts.classes[i].device.capability;
    const bool served = std::any_of(entries.begin(), entries.end(), [&](const ListEntry& entry) {
      return (entry.sass && sass_fits(entry.arch, device) == Fit::yes) ||
             (entry.ptx && ptx_fits(entry.arch, device) == Fit::yes);
    });
    if (!served) missed.push_back(i);
  }
  return missed;
}

std::string unset_text(const char* name) {
  return std::string("unset ") + name + " before anything is built";
}

void check_left_out(const Facts& facts, const char* name, const std::vector<std::string>& words,
                    Findings& findings) {
  if (words.empty()) return;
  const auto missed = missed_by(facts, words);
  if (missed.empty()) return;
  Finding finding{FindingId::environment, Rank::risk};
  finding.code = kNoKernelImage;
  finding.cause = value_of(facts, name) + " leaves out " + devices_text(facts, missed) +
                  ": what is built with it has no code for " +
                  (missed.size() == 1 ? "that GPU" : "those GPUs");
  finding.fix = unset_text(name);
  findings.push_back(std::move(finding));
}

// How torch reads its list when it builds an extension (`_get_cuda_arch_flags` in
// torch/utils/cpp_extension.py): `native` alone is the GPUs that it sees. Else blanks become semicolons,
// names of families become lists of theirs, and what stands between two semicolons must be a name that it
// takes, with or without +PTX. It raises "Unknown CUDA arch (…) or GPU not supported" else, also for nothing
// between two.
constexpr const char* kTorchList = "TORCH_CUDA_ARCH_LIST";

class TorchList {
 public:
  explicit TorchList(const Facts& facts) : list_(variable(facts, kTorchList)) {
    if (facts.torch) accepted_ = facts.torch->build_archs;
    std::replace(list_.begin(), list_.end(), ' ', ';');
    list_ = expand_torch_families(std::move(list_));
  }

  std::vector<std::string> words() const { return list_words(list_); }

  // The first item that torch refuses.
  std::optional<std::string> refused() const {
    if (list_ == "native") return std::nullopt;
    for (const std::string_view item : split(list_, ';'))
      if (!takes(std::string(item))) return std::string(item);
    return std::nullopt;
  }

  // The items as torch takes them; those that it has no name for are left out.
  std::vector<std::string> spelled() const {
    std::vector<std::string> names;
    for (const std::string& word : list_words(list_)) {
      const std::string name = name_for(word);
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

 private:
  bool takes(const std::string& item) const {
    constexpr std::string_view kPtx = "+PTX";
    const std::string name = ends_with(item, kPtx) ? item.substr(0, item.size() - kPtx.size()) : item;
    if (!accepted_.empty()) return std::find(accepted_.begin(), accepted_.end(), name) != accepted_.end();
    const auto entry = read_entry(name);
    return entry && torch_name(entry->arch, false) == name;
  }

  std::string name_for(const std::string& word) const {
    const auto entry = read_entry(word);
    if (!entry) return {};
    const bool ptx = ends_with(word, "+PTX") || !entry->sass;
    auto name = torch_name(entry->arch, ptx);
    if (!name)
      if (const auto nearest = nearest_in_torch(entry->arch)) name = torch_name(*nearest, ptx);
    if (!name)
      if (const auto nearest = nearest_ptx_in_torch(entry->arch)) name = torch_name(*nearest, true);
    return name && takes(*name) ? *name : std::string();
  }

  std::string list_;
  std::vector<std::string> accepted_;  // by the installed torch; empty: it does not tell them
};

bool check_spelling(const Facts& facts, Findings& findings) {
  if (variable(facts, kTorchList).empty()) return false;
  const TorchList list(facts);
  const auto refused = list.refused();
  if (!refused) return false;
  Finding finding{FindingId::environment, Rank::risk};
  finding.cause = value_of(facts, kTorchList) + ": torch builds no extension with it: Unknown CUDA arch (" +
                  printable(*refused) + ") or GPU not supported";
  finding.evidence.emplace_back(
      refused->empty() ? "torch makes a ';' of each blank and reads what is between two: here that is nothing"
      : refused->find(',') != std::string::npos
          ? "torch separates by ';' or one blank, not by ','"
          : "torch writes 8.6, 9.0a, 8.6+PTX or Ampere, and takes what it lists alone");
  const std::vector<std::string> names = list.spelled();
  finding.fix = names.empty() || !missed_by(facts, names).empty()
                    ? unset_text(kTorchList)
                    : std::string("export ") + kTorchList + "='" + join(names, ";") + "'";
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace

void check_arch_lists(const Facts& facts, Findings& findings) {
  if (!check_spelling(facts, findings)) check_left_out(facts, kTorchList, TorchList(facts).words(), findings);
  // flashinfer compiles for it when it is used (flashinfer/compilation_context.py).
  if (installed_package(facts, "flashinfer-python") != nullptr)
    check_left_out(facts, "FLASHINFER_CUDA_ARCH_LIST",
                   list_words(variable(facts, "FLASHINFER_CUDA_ARCH_LIST")), findings);
  check_left_out(facts, "CUDAARCHS", list_words(variable(facts, "CUDAARCHS")), findings);
}

}  // namespace archguard::doctor
