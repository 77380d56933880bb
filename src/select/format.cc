#include <algorithm>

#include "base/text.h"
#include "select/select.h"

namespace archguard {
namespace {

// The architectures of a selection, ascending, as torch sees them: with SASS or not, with PTX or not.
std::vector<ArchEntry> entries_by_arch(const Selection& selection) {
  std::vector<ArchEntry> entries;
  for (const ChosenEntry& chosen : selection.entries) {
    auto at = entries.begin();
    while (at != entries.end() && at->arch < chosen.entry.arch) ++at;
    if (at == entries.end() || at->arch != chosen.entry.arch)
      at = entries.insert(at, {chosen.entry.arch, false, false});
    at->real = at->real || chosen.entry.real;
    at->virtual_ = at->virtual_ || chosen.entry.virtual_;
  }
  return entries;
}

std::string torch_arch(Arch arch) {
  return to_string(capability_of(arch)) + suffix_text(arch.suffix);
}

}  // namespace

std::string format_cmake(const Selection& selection) {
  std::vector<std::string> entries;
  for (const ChosenEntry& chosen : selection.entries) entries.push_back(to_string(chosen.entry));
  return join(entries, ";");
}

std::string format_torch(const Selection& selection) {
  std::vector<std::string> entries;
  for (const ArchEntry& entry : entries_by_arch(selection))
    entries.push_back(torch_arch(entry.arch) + (entry.virtual_ ? "+PTX" : ""));
  return join(entries, ";");
}

std::vector<std::string> torch_notes(const Selection& selection) {
  std::vector<std::string> notes;
  for (const ArchEntry& entry : entries_by_arch(selection))
    if (!entry.real)
      notes.push_back("torch has no spelling for PTX alone: " + torch_arch(entry.arch) +
                      "+PTX also builds SASS for " + torch_arch(entry.arch));
  return notes;
}

// SASS and PTX apart: code=[sm_86,compute_86] would need quotes in a shell.
std::string format_gencode(const Selection& selection) {
  std::vector<std::string> options;
  for (const ChosenEntry& chosen : selection.entries) {
    const std::string arch = to_string(chosen.entry.arch);
    for (const char* code :
         {chosen.entry.real ? "sm_" : nullptr, chosen.entry.virtual_ ? "compute_" : nullptr})
      if (code != nullptr)
        options.push_back(join({"-gencode=arch=compute_", arch, ",code=", code, arch}, ""));
  }
  return join(options, " ");
}

}  // namespace archguard
