#include <algorithm>

#include "base/text.h"
#include "compat/torch.h"
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

// An entry as torch spells it, or the nearest that it takes: its SASS runs on the same device, or else its
// PTX. Nothing where it takes neither.
std::optional<ArchEntry> torch_entry_for(const ArchEntry& entry) {
  if (torch_name(entry.arch, entry.virtual_)) return entry;
  const auto sass = nearest_in_torch(entry.arch), ptx = nearest_ptx_in_torch(entry.arch);
  if (entry.real && sass) return ArchEntry{*sass, true, entry.virtual_};
  return ptx ? std::optional<ArchEntry>({*ptx, entry.real, true}) : std::nullopt;
}

}  // namespace

std::string format_cmake(const Selection& selection) {
  std::vector<std::string> entries;
  for (const ChosenEntry& chosen : selection.entries) entries.push_back(to_string(chosen.entry));
  return join(entries, ";");
}

std::string format_torch(const Selection& selection) {
  std::vector<ArchEntry> taken;  // ascending, each arch once
  for (const ArchEntry& entry : entries_by_arch(selection)) {
    const auto named = torch_entry_for(entry);
    if (!named) continue;
    auto at = taken.begin();
    while (at != taken.end() && at->arch < named->arch) ++at;
    if (at == taken.end() || at->arch != named->arch) at = taken.insert(at, {named->arch, true, false});
    at->virtual_ = at->virtual_ || named->virtual_;
  }
  std::vector<std::string> entries;
  for (const ArchEntry& entry : taken) entries.push_back(torch_name(entry.arch, entry.virtual_).value());
  return join(entries, ";");
}

std::vector<std::string> torch_notes(const Selection& selection) {
  std::vector<std::string> notes;
  for (const ArchEntry& entry : entries_by_arch(selection)) {
    const std::string own = to_string(capability_of(entry.arch)) + suffix_text(entry.arch.suffix);
    const auto named = torch_entry_for(entry);
    if (!named) {
      notes.push_back("torch takes no " + own + " and nothing like it: left out");
      continue;
    }
    const std::string name = torch_name(named->arch, false).value();
    if (named->arch != entry.arch)
      notes.push_back("torch takes no " + own + ": " + torch_name(named->arch, named->virtual_).value() +
                      " stands for it" + (named->virtual_ && !entry.virtual_ ? ", through JIT" : ""));
    if (!entry.real)
      notes.push_back("torch has no spelling for PTX alone: " + name + "+PTX also builds SASS for " + name);
  }
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
