#include "kept/question.h"

#include <ctime>
#include <link.h>
#include <unistd.h>

#include "elf/elf.h"
#include "kept/fields.h"

namespace archguard {
namespace {

// The loader names the program itself first.
int find_build_id(dl_phdr_info* program, std::size_t, void* found) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const auto& header = program->dlpi_phdr[i];
    auto& id = *static_cast<std::string*>(found);
    if (header.p_type == PT_NOTE && id.empty())
      id = build_id_in(
               {reinterpret_cast<const std::uint8_t*>(program->dlpi_addr + header.p_vaddr), header.p_memsz})
               .text();
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
