#include "fatbin/host_references.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "elf/elf.h"

// Six sections of an object, each a list of names that end in NUL, or a single NUL: kernels (K), variables
// (D) and constants (C), with external (E) and internal (I) linkage. The host linker puts those of all
// objects one behind the other, with NULs between them where they are aligned. A `*` in a name stands for any
// text.

namespace archguard {
namespace fatbin {
namespace {

constexpr std::string_view kSections[] = {".nvHRKE", ".nvHRKI", ".nvHRDE", ".nvHRDI", ".nvHRCE", ".nvHRCI"};
constexpr std::uint64_t kReferenceSizeMost = std::uint64_t{16}
                                             << 20;  // in all; a large library has some 100 kB

void add_referenced_names(std::string_view text, HostReferences& references) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\0'));
    if (!name.empty()) {
      references.names.emplace_back(name);
      references.beginnings.emplace_back(name.substr(0, name.find('*')));
    }
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
}

// Is `name` the pattern, whose `*` stand for any text?
bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  // Of the texts between two `*`, each as early as it comes; the last stands at the end.
  for (auto next = pattern.find('*'); next != std::string_view::npos; next = pattern.find('*')) {
    const auto found = name.find(pattern.substr(0, next));
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + next);
    pattern.remove_prefix(next + 1);
  }
  return ends_with(name, pattern);
}

bool is_host_program(const ByteSource& source, const HostObject& host) {
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(kElfHeaderMost, source.size()));
  const auto header = start ? parse_elf_header(*start) : Result<ElfHeader>(Error{});
  return (header && header->type == kElfExecutable) ||
         std::any_of(host.sections.begin(), host.sections.end(),
                     [](const Section& section) { return section.name == ".interp"; });
}

}  // namespace

HostReferences read_host_references(const ByteSource& source, const HostObject& host) {
  HostReferences references;
  std::uint64_t size = 0;
  for (const std::string_view name : kSections) {
    bool found = false;
    for (const Section& section : host.sections) {
      if (section.name != name || !section.has_bytes) continue;
      size += std::min(section.size, kReferenceSizeMost + 1);
      if (size > kReferenceSizeMost) return {};
      const auto bytes = read_bytes(source, section.offset, section.size);
      if (!bytes) return {};  // the file shrank: whoever reads images says so
      add_referenced_names(ByteView(*bytes).text(), references);
      found = true;
    }
    if (!found) return {};
  }
  references.told = true;
  references.program = is_host_program(source, host);
  // One that begins with another adds nothing to it, so that the only one that a name may begin with stands
  // right before the name.
  auto& all = references.beginnings;
  std::sort(all.begin(), all.end());
  std::sort(references.names.begin(), references.names.end());
  const auto adds_nothing = [](const std::string& kept, const std::string& next) {
    return next.compare(0, kept.size(), kept) == 0;
  };
  all.erase(std::unique(all.begin(), all.end(), adds_nothing), all.end());
  return references;
}

}  // namespace fatbin

bool HostReferences::may_name(std::string_view name) const {
  if (!told) return true;
  const auto after = std::upper_bound(beginnings.begin(), beginnings.end(), name,
                                      [](std::string_view a, const std::string& b) { return a < b; });
  return after != beginnings.begin() && name.substr(0, (after - 1)->size()) == *(after - 1);
}

bool HostReferences::does_name(std::string_view name) const {
  constexpr int kTriesMost = 4096;  // of a real file's a few: beyond, it counts as named
  if (std::binary_search(names.begin(), names.end(), name, std::less<>())) return true;
  int tries = 0;
  for (std::size_t length = 0; length <= name.size(); ++length) {  // of the text before the first `*`
    const std::string beginning = std::string(name.substr(0, length)) + '*';
    auto each = std::lower_bound(names.begin(), names.end(), beginning);
    for (; each != names.end() && starts_with(*each, beginning); ++each)
      if (++tries > kTriesMost || fatbin::matches(*each, name)) return true;
  }
  return false;
}

}  // namespace archguard
