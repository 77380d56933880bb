#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "compat/rules.h"
#include "compat/torch.h"
#include "doctor/checks.h"
#include "doctor/compiler_archs.h"
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

constexpr const char* kFlashinferList = "FLASHINFER_CUDA_ARCH_LIST";

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
  if (std::string_view(name) == kFlashinferList)
    finding.errors = {"flashinfer-no-arch"};
  else
    finding.errors = {"scaled-mm-missing", "ggml-no-code"};  // a build without the GPU, by its own word
  findings.push_back(std::move(finding));
}

// How torch reads its list when it builds an extension (`_get_cuda_arch_flags` in
// torch/utils/cpp_extension.py): `native` alone is the GPUs that it sees. Else blanks become semicolons,
// names of families become lists of theirs, and what stands between two semicolons must be a name that it
// takes, with or without +PTX. It raises "Unknown CUDA arch (…) or GPU not supported" else, also for nothing
// between two.
constexpr const char* kTorchList = "TORCH_CUDA_ARCH_LIST";
constexpr const char* kUnknownToTorch = "torch-unknown-arch";  // of archguard explain
constexpr std::string_view kPtx = "+PTX";

std::string without_ptx(std::string item) {
  if (ends_with(item, kPtx)) item.resize(item.size() - kPtx.size());
  return item;
}

// "9.0" of "Unknown CUDA arch (9.0+PTX) or GPU not supported": what the installed torch refused by its own
// word.
std::vector<std::string> refused_in_error(const Facts& facts) {
  std::vector<std::string> names;
  for (const Explanation& each : facts.explained) {
    if (each.id != kUnknownToTorch) continue;
    const auto begin = each.found.find('('), end = each.found.find(')');
    if (begin != std::string::npos && end != std::string::npos && begin < end)
      names.push_back(without_ptx(each.found.substr(begin + 1, end - begin - 1)));
  }
  return names;
}

class TorchList {
 public:
  explicit TorchList(const Facts& facts)
      : list_(variable(facts, kTorchList)), refused_(refused_in_error(facts)) {
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

  // The items as torch takes them; those that it has no name for, or that `tool` does not know, are left out.
  // PTX that was asked of one of these is asked of the last one.
  std::vector<std::string> spelled(const JitTool* tool) const {
    std::vector<std::string> names;
    bool ptx_left_out = false;
    for (const std::string& word : list_words(list_)) {
      const std::string name = name_for(word);
      const auto entry = name.empty() ? std::nullopt : read_entry(name);
      if (!entry || is_unknown_to(tool, entry->arch))
        ptx_left_out |= ends_with(word, kPtx);
      else if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
    if (ptx_left_out && !names.empty() && !ends_with(names.back(), kPtx)) names.back() += kPtx;
    return names;
  }

  // The first item that the compiler does not know.
  std::optional<Arch> unknown_to(const JitTool& tool) const {
    for (const std::string& word : list_words(list_))
      if (const auto entry = read_entry(word); entry && is_unknown_to(&tool, entry->arch)) return entry->arch;
    return std::nullopt;
  }

 private:
  static bool is_unknown_to(const JitTool* tool, Arch arch) {
    if (tool == nullptr) return false;
    const Knows answer = knows(*tool->version, arch);
    return answer == Knows::too_old || answer == Knows::too_new;
  }

  bool takes(const std::string& item) const {
    const std::string name = without_ptx(item);
    if (std::find(refused_.begin(), refused_.end(), name) != refused_.end()) return false;
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
  std::vector<std::string> refused_;   // as the error that was given says
  std::vector<std::string> accepted_;  // by the installed torch; empty: it does not tell them
};

std::string list_fix(const Facts& facts, const std::vector<std::string>& names) {
  return names.empty() || !missed_by(facts, names).empty()
             ? unset_text(kTorchList)
             : std::string("export ") + kTorchList + "='" + join(names, ";") + "'";
}

std::string unknown_to_nvcc_text(const JitTool& nvcc, Arch arch) {
  return "nvcc " + to_string(*nvcc.version) + " (" + nvcc.path + ") does not know compute_" +
         to_string(arch) + ": " + range_text(arch, knows(*nvcc.version, arch));
}

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
  const JitTool* nvcc = nvcc_of_builds(facts);
  if (const auto arch = nvcc != nullptr ? list.unknown_to(*nvcc) : std::nullopt)
    finding.evidence.push_back(unknown_to_nvcc_text(*nvcc, *arch));
  finding.fix = list_fix(facts, list.spelled(nvcc));
  finding.errors = {kUnknownToTorch};
  findings.push_back(std::move(finding));
  return true;
}

// torch takes the names of newer GPUs than the toolkit that compiles for it knows. One of a GPU here is told
// by check_nvcc.
void check_against_nvcc(const Facts& facts, Findings& findings) {
  const JitTool* nvcc = nvcc_of_builds(facts);
  if (nvcc == nullptr || variable(facts, kTorchList).empty()) return;
  const TorchList list(facts);
  const auto arch = list.unknown_to(*nvcc);
  const auto is_of_device = [&](const DeviceClass& each) {
    return *each.device.capability == capability_of(*arch);
  };
  if (!arch || std::any_of(facts.classes.begin(), facts.classes.end(), is_of_device)) return;
  Finding finding{FindingId::environment, Rank::risk};
  finding.cause = value_of(facts, kTorchList) + " asks nvcc for compute_" + to_string(*arch) +
                  ", and nothing can be built with it";
  finding.evidence = {unknown_to_nvcc_text(*nvcc, *arch)};
  finding.fix = list_fix(facts, list.spelled(nvcc));
  finding.errors = {"nvcc-unsupported-arch", kUnknownToTorch};
  findings.push_back(std::move(finding));
}

}  // namespace

void check_arch_lists(const Facts& facts, Findings& findings) {
  if (!check_spelling(facts, findings)) {
    check_against_nvcc(facts, findings);
    check_left_out(facts, kTorchList, TorchList(facts).words(), findings);
  }
  // flashinfer compiles for it when it is used (flashinfer/compilation_context.py).
  if (installed_package(facts, "flashinfer-python") != nullptr)
    check_left_out(facts, kFlashinferList, list_words(variable(facts, kFlashinferList)), findings);
  check_left_out(facts, "CUDAARCHS", list_words(variable(facts, "CUDAARCHS")), findings);
}

}  // namespace archguard::doctor
