#include "host/elf_dynamic.h"
#include "targets.h"

namespace archguard::fuzz {

void dynamic(ByteView bytes) {
  const auto read = read_elf_dynamic(MemorySource(bytes));
  if (!read || !*read) return;
  const ElfDynamic& file = **read;
  promise(file.needed.size() <= 4096);
  for (const std::string& name : file.needed) promise(!name.empty() && name.size() < bytes.size);
  for (const std::string* text : {&file.interpreter, &file.soname, &file.rpath, &file.runpath})
    promise(text->size() < bytes.size && text->find('\0') == std::string::npos);
  constexpr std::size_t kNameMost = 100;
  visit_wanted_names(MemorySource(bytes), file.tables, kNameMost,
                     [&](const WantedName& wanted) { promise(wanted.name.size() <= kNameMost); });
  visit_defined_names(MemorySource(bytes), file.tables, kNameMost, [&](const std::string& name) {
    promise(name.size() <= kNameMost);
    return true;
  });
}

}  // namespace archguard::fuzz
