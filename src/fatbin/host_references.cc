#include "fatbin/host_references.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "base/mangled_name.h"
#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/host_bytes.h"
#include "image/symbol_name.h"
#include "io/window.h"

// Six sections of an object, each a list of names that end in NUL, or a single NUL: kernels (K), variables
// (D) and constants (C), with external (E) and internal (I) linkage. The host linker puts those of all
// objects one behind the other, with NULs between them where they are aligned. A `*` in a name stands for any
// text.

namespace archguard {
namespace fatbin {
namespace {

constexpr std::string_view kKernelSections[] = {".nvHRKE", ".nvHRKI"};
constexpr std::string_view kVariableSections[] = {".nvHRDE", ".nvHRDI", ".nvHRCE", ".nvHRCI"};
constexpr std::string_view kListPrefix = ".nvHR";
constexpr std::size_t kRegisteredBlock = std::size_t{1} << 20, kRegisteredNameMost = 4096;
constexpr std::size_t kRegisteredMost = std::size_t{1} << 16;
constexpr int kRegisteredTries = 64;  // static kernels of one file begin alike: some are not looked for
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

// Is it one of the names, whole? Nothing where more patterns begin like it.
std::optional<bool> is_named_within(const HostReferences& references, std::string_view name, int tries_most) {
  const auto& names = references.names;
  if (std::binary_search(names.begin(), names.end(), name, std::less<>())) return true;
  int tries = 0;
  for (std::size_t length = 0; length <= name.size(); ++length) {  // of the text before the first `*`
    const std::string beginning = std::string(name.substr(0, length)) + '*';
    auto each = std::lower_bound(names.begin(), names.end(), beginning);
    for (; each != names.end() && starts_with(*each, beginning); ++each) {
      if (++tries > tries_most) return std::nullopt;
      if (matches(*each, name)) return true;
    }
  }
  return false;
}

// Of `_ZN1n6spacedE` `_ZN1n6spaced*`; of `__nv_static_21__mark_plain` `__nv_static_21__mark_*plain`; of a
// name that is mangled behind the mark, in `_INTERNAL_…` or not, `…_*1n6spaced*` (seen of nvcc 11.8, 13.0
// and 13.5). Empty where that is not known.
std::string listed_name(std::string_view name) {
  const std::string_view own = without_file_mark(name);
  const bool marked = own.size() != name.size();
  std::string listed(name.substr(0, name.size() - own.size()));
  if (marked) listed += '*';
  if (!starts_with(own, "_Z")) return listed.append(own);
  const auto last = last_plain_name(own);
  if (!last || last->is_static) return {};
  const std::string_view name_until = own.substr(0, last->end);
  if (!marked) return listed.append(name_until) + '*';
  const auto path = last->nested ? within_file_namespace(name_until) : name_until.substr(2);
  if (!path || path->empty()) return {};
  return listed.append(*path) + '*';
}

bool is_host_program(const ByteSource& source, const HostObject& host) {
  const auto header = read_elf_header(source);
  return (header && header->type == kElfExecutable) ||
         std::any_of(host.sections.begin(), host.sections.end(),
                     [](const Section& section) { return section.name == ".interp"; });
}

bool holds_ltoir(const std::vector<Fatbin>& fatbins) {
  return std::any_of(fatbins.begin(), fatbins.end(), [](const Fatbin& fatbin) {
    return fatbin.relocatable &&
           std::any_of(fatbin.entries.begin(), fatbin.entries.end(),
                       [](const FatbinEntry& entry) { return entry.kind == EntryKind::ltoir; });
  });
}

// Whole texts that end in NUL and that the lists name as kernels.
class RegisteredSearch {
 public:
  explicit RegisteredSearch(const HostReferences& kernels) : kernels_(kernels) {}

  bool search(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
    Window in(source, kRegisteredBlock + kRegisteredNameMost + 1, 0);
    for (std::uint64_t at = 0; at < size; at += kRegisteredBlock) {
      const std::uint64_t before = std::min<std::uint64_t>(at, 1);  // the NUL of the text before
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(size - at, kRegisteredBlock + kRegisteredNameMost));
      const auto bytes = in.at(offset + at - before, static_cast<std::size_t>(before) + count);
      if (!bytes) return false;
      search(bytes->text(), static_cast<std::size_t>(before));
    }
    return true;
  }

  std::set<std::string> found;

 private:
  // Texts that begin in the block.
  void search(std::string_view text, std::size_t first) {
    const std::size_t end = std::min(text.size(), first + kRegisteredBlock);
    std::size_t begin = first == 0 || text[0] == '\0' ? first : text.find('\0', first);
    while (begin < end) {
      if (text[begin] == '\0') {
        ++begin;
        continue;
      }
      const std::size_t after = text.find('\0', begin);
      if (after == std::string_view::npos) return;
      const std::string_view name = text.substr(begin, after - begin);
      const bool looked_at = name.size() <= kRegisteredNameMost && found.size() < kRegisteredMost;
      if (looked_at && kernels_.may_name(name) &&
          is_named_within(kernels_, name, kRegisteredTries).value_or(false))
        found.emplace(name);
      begin = after;
    }
  }

  const HostReferences& kernels_;
};

std::vector<std::string> find_registered(const ByteSource& source, const HostObject& host,
                                         const std::vector<Fatbin>& fatbins, const HostReferences& kernels) {
  RegisteredSearch names(kernels);
  const auto may_hold = [](const Section& section) {
    return section.loaded && section.data && !starts_with(section.name, kListPrefix);
  };
  const auto search = [&](const Section&, std::uint64_t at, std::uint64_t size) {
    return names.search(source, at, size);
  };
  if (!visit_host_bytes(source, host, fatbins, may_hold, search)) return {};
  return {names.found.begin(), names.found.end()};
}

// False where a list is missing, or cannot be read.
bool add_references(const ByteSource& source, const HostObject& host, std::string_view name,
                    std::uint64_t& size, HostReferences& references) {
  bool found = false;
  for (const Section& section : host.sections) {
    if (section.name != name || !section.has_bytes) continue;
    size += std::min(section.size, kReferenceSizeMost + 1);
    if (size > kReferenceSizeMost || size > source.size()) return false;  // more: lists share bytes
    const auto bytes = read_bytes(source, section.offset, section.size);
    if (!bytes) return false;  // the file shrank: whoever reads images says so
    add_referenced_names(ByteView(*bytes).text(), references);
    found = true;
  }
  return found;
}

// One that begins with another adds nothing to it, so that the only one that a name may begin with stands
// right before the name.
void sort_references(HostReferences& references) {
  references.told = true;
  auto& all = references.beginnings;
  std::sort(all.begin(), all.end());
  auto& names = references.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto adds_nothing = [](const std::string& kept, const std::string& next) {
    return next.compare(0, kept.size(), kept) == 0;
  };
  all.erase(std::unique(all.begin(), all.end(), adds_nothing), all.end());
}

}  // namespace

HostReferences read_host_references(const ByteSource& source, const HostObject& host,
                                    const std::vector<Fatbin>& fatbins) {
  HostReferences references;
  std::uint64_t size = 0;
  for (const std::string_view name : kKernelSections)
    if (!add_references(source, host, name, size, references)) return {};
  std::vector<std::string> registered;
  if (holds_ltoir(fatbins)) {
    HostReferences kernels = references;
    sort_references(kernels);
    registered = find_registered(source, host, fatbins, kernels);
  }
  for (const std::string_view name : kVariableSections)
    if (!add_references(source, host, name, size, references)) return {};
  sort_references(references);
  references.program = is_host_program(source, host);
  references.registered = std::move(registered);
  return references;
}

// One object has one NUL in a row; `ld -r` puts the lists of several one behind the other, each on 32 bytes,
// or on a line of the cache (-malign-data=cacheline).
const Section* find_lost_list(const ByteSource& source, const HostObject& host, std::size_t fat_binaries) {
  constexpr std::size_t kAlignmentMost = 128;
  const std::size_t in_a_row = 1 + (std::max<std::size_t>(fat_binaries, 1) - 1) * kAlignmentMost;
  for (const Section& section : host.sections) {
    if (!section.has_bytes || !starts_with(section.name, kListPrefix)) continue;
    if (section.size <= in_a_row || section.size > kReferenceSizeMost) continue;
    const auto bytes = read_bytes(source, section.offset, section.size);
    if (!bytes) continue;  // the file shrank: whoever reads images says so
    const auto zeros = std::search_n(bytes->begin(), bytes->end(), in_a_row + 1, std::uint8_t{0});
    if (zeros != bytes->end()) return &section;
  }
  return nullptr;
}

}  // namespace fatbin

bool HostReferences::lists(std::string_view name) const {
  return std::binary_search(names.begin(), names.end(), fatbin::listed_name(name), std::less<>());
}

bool HostReferences::may_name(std::string_view name) const {
  if (!told) return true;
  const auto after = std::upper_bound(beginnings.begin(), beginnings.end(), name,
                                      [](std::string_view a, const std::string& b) { return a < b; });
  return after != beginnings.begin() && name.substr(0, (after - 1)->size()) == *(after - 1);
}

bool HostReferences::does_name(std::string_view name) const {
  constexpr int kTriesMost = 4096;  // of a real file's a few: beyond, it counts as named
  if (!told || !may_name(name)) return !told;
  return fatbin::is_named_within(*this, name, kTriesMost).value_or(true);
}

}  // namespace archguard
