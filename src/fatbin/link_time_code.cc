#include "fatbin/link_time_code.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/fatbin.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

// What GCC leaves in an object under -flto, each as ".gnu.lto_…" and a number: `.lto.` has eight bytes, of
// which the fifth tells that there is nothing else in the object ("slim", lto_section in GCC's
// lto-streamer.h); `.symtab.` has the names of symbols, NUL-terminated, in between other fields. The program
// itself, and the device code with it, is compressed.
constexpr const char* kLtoHeadSection = ".gnu.lto_.lto.";
constexpr const char* kLtoSymbolsSection = ".gnu.lto_.symtab.";
constexpr std::uint64_t kLtoSlimAt = 4;
// Of the functions that nvcc's host code calls: __cudaRegisterFatBinary, __cudaRegisterLinkedBinary_….
constexpr std::string_view kLtoRegistrations[] = {"__cudaRegisterFatBinary", "__cudaRegisterLinkedBinary"};
constexpr std::size_t kLtoBlock = std::size_t{64} * 1024, kLtoOverlap = 32;

// The same for a device, of any vendor.
constexpr const char* kOffloadLtoSection = ".gnu.offload_lto_";

bool names_registration(const ByteSource& source, const Section& section) {
  Window in(source, kLtoBlock + kLtoOverlap, kLtoBlock + kLtoOverlap);
  for (std::uint64_t at = 0; at < section.size; at += kLtoBlock) {
    const auto bytes =
        in.at(section.offset + at,
              static_cast<std::size_t>(std::min<std::uint64_t>(section.size - at, kLtoBlock + kLtoOverlap)));
    if (!bytes) return false;  // the file shrank: whoever reads images says so
    for (const std::string_view name : kLtoRegistrations)
      if (bytes->text().find(name) != std::string_view::npos) return true;
  }
  return false;
}

// Under -flto the compiler puts all of an object, the device code too, into its own compressed form.
const Section* lto_that_registers(const ByteSource& source, const HostObject& host, bool fat_binaries) {
  bool slim = !fat_binaries;
  const Section* registers = nullptr;
  std::uint64_t searched = 0;
  for (const Section& section : host.sections) {
    if (!section.has_bytes) continue;
    if (starts_with(section.name, kLtoHeadSection)) {
      const auto head = read_bytes(source, section.offset, std::min(section.size, kLtoSlimAt + 1));
      slim |= head && head->size() > kLtoSlimAt && head->back() != 0;
    } else if (registers == nullptr && starts_with(section.name, kLtoSymbolsSection)) {
      // Sections that share bytes would let a small file cost without end.
      if (section.size > source.size() - searched || names_registration(source, section))
        registers = &section;
      searched += std::min(section.size, source.size() - searched);
    }
  }
  return slim ? registers : nullptr;
}

}  // namespace

std::vector<Error> link_time_code_in(const ByteSource& source, const HostObject& host, bool fat_binaries,
                                     const std::string& object) {
  std::vector<Error> errors;
  const auto add = [&](const Section& section, const char* options, const char* without) {
    errors.push_back(
        {place_name(object, section.name, 0),
         std::string("device code in what ") + options + " left for the linker to compile cannot be judged",
         std::string("compile it ") + without + ", or verify what it is linked into"});
  };
  if (const Section* lto = lto_that_registers(source, host, fat_binaries))
    add(*lto, "-flto", "without -flto");
  const auto offload = std::find_if(host.sections.begin(), host.sections.end(), [](const Section& section) {
    return section.has_bytes && starts_with(section.name, kOffloadLtoSection);
  });
  if (offload != host.sections.end()) add(*offload, "GCC's -fopenmp or -fopenacc", "with -foffload=disable");
  return errors;
}

}  // namespace archguard::fatbin
