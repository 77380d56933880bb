#include "kept/question.h"

#include <cstring>
#include <ctime>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include "kept/fields.h"

namespace archguard {
namespace {

// The note that the linker makes of all that it links (ld's --build-id).
std::string build_id_in(const char* notes, std::size_t size) {
  constexpr char kName[] = "GNU";
  const auto padded = [](std::size_t count) { return (count + 3) / 4 * 4; };
  ElfW(Nhdr) head;
  while (size >= sizeof head) {
    std::memcpy(&head, notes, sizeof head);
    const std::size_t name = padded(head.n_namesz), all = sizeof head + name + padded(head.n_descsz);
    if (all > size) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof kName &&
        std::memcmp(notes + sizeof head, kName, sizeof kName) == 0)
      return {notes + sizeof head + name, head.n_descsz};
    notes += all;
    size -= all;
  }
  return {};
}

// The loader names the program itself first.
int find_build_id(dl_phdr_info* program, std::size_t, void* found) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const auto& header = program->dlpi_phdr[i];
    auto& id = *static_cast<std::string*>(found);
    if (header.p_type == PT_NOTE && id.empty())
      id = build_id_in(reinterpret_cast<const char*>(program->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return 1;
}

// Where it was linked without that note, its file; where neither can be told, this process alone.
std::string this_build() {
  std::string id;
  dl_iterate_phdr(find_build_id, &id);
  if (!id.empty()) return id;
  auto file = identity_of("/proc/self/exe");
  if (!file) return std::to_string(std::time(nullptr)) + " " + std::to_string(getpid());
  file->taken = 0;
  kept::FieldWriter writer;
  writer(*file);
  return writer.take();
}

}  // namespace

std::string question_of(VerifyRequest request, std::string_view version) {
  static const std::string build = this_build();
  std::string program(version), program_build(build);
  kept::FieldWriter writer;
  writer(program, program_build, request);
  return writer.take();
}

}  // namespace archguard
