#include "host/section_table.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace archguard {
namespace {

constexpr const char* kSectionTableFix = "build it again, or copy it whole";

}  // namespace

void SectionTableCheck::add(const ElfSection& section) {
  ++count_;
  bits_ |= std::uint64_t{section.name} | section.type | section.flags | section.address | section.offset |
           section.size | section.link | section.info | section.entry_size;
  strings_.push_back(section.type == kElfStrings);
  if (section.type == kElfSymbols) symbols_.push_back({count_, section.link});
  if (section.type != kElfNoBits && section.size != 0) offsets_.push_back(section.offset);
}

std::optional<Error> SectionTableCheck::error(bool linked) {
  // Of 41,000 files and objects those without such a byte have 18 sections at most.
  constexpr std::uint64_t kSectionsOfText = 24, kHighBits = 0x8080808080808080;
  if (count_ >= kSectionsOfText && (bits_ & kHighBits) == 0)
    return Error{{},
                 "no byte of its section table is above 0x7f: something took the file for text of 7 bits",
                 kSectionTableFix};
  for (const Table& table : symbols_)
    if (table.names != 0 && (table.names >= strings_.size() || !strings_[table.names]))
      return Error{{},
                   "section " + std::to_string(table.index) +
                       " holds symbols, and what should be their names is no string table: the section "
                       "table was overwritten",
                   kSectionTableFix};
  if (linked) return std::nullopt;
  std::sort(offsets_.begin(), offsets_.end());
  const auto twice = std::adjacent_find(offsets_.begin(), offsets_.end());
  if (twice == offsets_.end()) return std::nullopt;
  return Error{{},
               "two sections have their bytes at " + hex(*twice) + ": the section table was overwritten",
               kSectionTableFix};
}

}  // namespace archguard
