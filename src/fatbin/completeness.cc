#include "fatbin/completeness.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/format.h"
#include "fatbin/host_references.h"
#include "fatbin/host_tables.h"
#include "fatbin/link_time_code.h"
#include "fatbin/registrations.h"

namespace archguard::fatbin {
namespace {

// The section that holds this byte; null where none does.
const Section* section_at(const HostObject& host, std::uint64_t offset) {
  for (const Section& section : host.sections)
    if (section.has_bytes && offset >= section.offset && offset - section.offset < section.size)
      return &section;
  return nullptr;
}

std::string place_in(const HostObject& host, const std::string& name, std::uint64_t offset) {
  const Section* section = section_at(host, offset);
  return place_name(name, section != nullptr ? section->name : "",
                    offset - (section != nullptr ? section->offset : 0));
}

Error lost_fatbins(const HostObject& host, const std::string& name,
                   const std::vector<LostRegistration>& lost) {
  const std::size_t more = lost.size() - 1;
  return {place_in(host, name, lost.front().offset),
          "the file registers a fat binary here, and none can be read" +
              (more == 0 ? "" : "; and " + std::to_string(more) + " more elsewhere") +
              ": device code was removed or overwritten",
          kRebuild};
}

Error stray_registration(const HostObject& host, const std::string& name, const StrayRegistration& stray) {
  return {place_in(host, name, stray.offset),
          "a fat binary is registered at address " + hex(stray.address) +
              ", where the file has nothing: device code was removed, or the registration overwritten",
          kRebuild};
}

Error unrelocated_registration(const HostObject& host, const std::string& name, std::uint64_t offset) {
  return {place_in(host, name, offset),
          "a fat binary is registered here, and no relocation tells the loader so: the table of relocations "
          "was overwritten, and the runtime gets an address where nothing is",
          "build it again, or copy it whole"};
}

Error damaged_registration(const HostObject& host, const std::string& name, std::uint64_t offset) {
  return {
      place_in(host, name, offset),
      "a fat binary's registration is missing here: it was removed or overwritten, so the runtime never sees "
      "its kernels",
      kRebuild};
}

// `--pack-dyn-relocs=android` of lld: SHT_ANDROID_RELA, which begins so. glibc loads no such file.
bool has_packed_relocations(const ByteSource& source, const HostObject& host) {
  constexpr std::string_view kMagic = "APS2";
  for (const char* name : {".rela.dyn", ".rel.dyn"}) {
    const Section* section = section_of(host, name);
    if (section == nullptr || section->size < kMagic.size()) continue;
    const auto start = read_bytes(source, section->offset, kMagic.size());
    if (start && ByteView(*start).text() == kMagic) return true;
  }
  return false;
}

std::vector<Error> answer_registrations(const HostObject& host, const DeviceObject& out,
                                        const RegistrationProblems& problems, std::size_t fat_binaries) {
  std::vector<Error> errors;
  const std::string name = object_name(out.path, out.member);
  if (problems.unread) errors.push_back({name, problems.unread->what, problems.unread->fix});
  if (problems.overlap) errors.push_back({name, "sections that register fat binaries overlap", kRebuild});
  if (problems.damaged) errors.push_back(damaged_registration(host, name, *problems.damaged));
  if (problems.unrelocated) errors.push_back(unrelocated_registration(host, name, *problems.unrelocated));
  // Relocations of an object go with what they lead to.
  const bool removed = problems.stray && !host.linked && fat_binaries < out.registrations.size();
  if (problems.stray && !removed) errors.push_back(stray_registration(host, name, *problems.stray));
  if (!problems.lost.empty()) errors.push_back(lost_fatbins(host, name, problems.lost));
  if (!removed && problems.unresolved <= problems.unclaimed) return errors;
  const auto section = std::find_if(host.sections.begin(), host.sections.end(), [](const Section& each) {
    return is_registration_section(each.name) && each.has_bytes;
  });
  errors.push_back({place_name(name, section->name, 0),
                    "registers " + count_of(out.registrations.size(), "fat binary", "fat binaries") +
                        ", and the file holds " + std::to_string(fat_binaries) +
                        ": device code was removed or overwritten",
                    kRebuild});
  return errors;
}

Error lost_list(const DeviceObject& out, const Section& list) {
  return {place_name(object_name(out.path, out.member), list.name, 0),
          "the list of the device code that host code names, by which nvlink goes, was overwritten by zeros",
          kRebuild};
}

std::optional<Error> check_tables(const ByteSource& source, const HostObject& host, const DeviceObject& out) {
  const auto table = find_zeroed_table(source, host);
  const std::string name = object_name(out.path, out.member);
  if (!table) return Error{name, table.error().what, table.error().fix};
  if (*table == nullptr) return std::nullopt;
  return Error{place_name(name, (*table)->name, 0),
               "a part of this table was overwritten by zeros: what the " +
                   std::string(host.linked ? "file" : "object") + " registers, and what it calls, is lost",
               "build it again, or copy it whole"};
}

// nvc++ (NVIDIA HPC SDK) links device code itself, and hands the result to a runtime of its own.
constexpr std::string_view kNvcxxRegistration = "__pgi_cuda_register_fat_binary";

// The first symbol that begins so and that the loader must find elsewhere.
std::string wanted_symbol(const ByteSource& source, const HostObject& host, std::string_view beginning) {
  std::string wanted;
  visit_wanted_symbols(source, host, 127, [&](std::string_view name) {
    if (starts_with(name, beginning)) wanted = name;
    return wanted.empty();
  });
  return wanted;
}

Error linked_by_nvcxx(const DeviceObject& out, const Fatbin& fatbin) {
  return {where(out, fatbin),
          "was device-linked by nvc++, whose runtime registers it in a way that is not read: what runs on "
          "which device is not known",
          "look at what nvc++ linked: cuobjdump -lelf"};
}

Error not_linked(const DeviceObject& out, const Fatbin& fatbin, const std::string& told_by) {
  return {where(out, fatbin),
          "was not device-linked: " + told_by + ", and no kernel of -rdc=true runs without it",
          "link it with nvcc, or with what nvcc -dlink makes of its objects (CMake: "
          "CUDA_RESOLVE_DEVICE_SYMBOLS ON)"};
}

// A device link registers when all objects that it counts have called it, each with its own fat binary. The
// host linker takes none of a static library that a shared one beside it has already (link.stub of the CUDA
// toolkit, 11.8 to 13.5).
std::optional<Error> check_objects_elsewhere(const ByteSource& source, const HostObject& host,
                                             const DeviceObject& out) {
  if (host.format != HostFormat::elf || !host.linked ||
      std::none_of(out.registrations.begin(), out.registrations.end(),
                   [](const Registration& each) { return each.device_linked; }))
    return std::nullopt;
  std::string wanted;
  visit_wanted_data(source, host, 127, [&](std::string_view name) {
    if (starts_with(name, kObjectRegistration)) wanted = name;
    return wanted.empty();
  });
  if (wanted.empty()) return std::nullopt;
  const bool is_runtime = wanted.find(kDeviceRuntimeId) != std::string::npos;
  return Error{
      object_name(out.path, out.member),
      "its device link counts on an object of another file, " + wanted +
          ": which of the two registers what, and whether this one registers anything, is decided by "
          "which is loaded first",
      is_runtime ? kKeepDeviceRuntime
                 : "link that static library of device code into one file alone; CMake: "
                   "target_link_libraries of the shared library with PRIVATE"};
}

// The host code of an object made with -rdc=true registers through a function of kLinkedRegistration and a
// suffix of its own, which the device linker writes. A file that still wants it from elsewhere was linked
// without: what its relocatable fat binaries hold never became a fat binary that runs, and loading it fails.
std::optional<Error> check_device_link(const ByteSource& source, const HostObject& host,
                                       const DeviceObject& out, const Fatbin* relocatable) {
  if (host.format != HostFormat::elf || relocatable == nullptr) return std::nullopt;
  const std::string wanted = wanted_symbol(source, host, kLinkedRegistration);
  if (!wanted.empty()) return not_linked(out, *relocatable, "the file needs " + wanted);
  // A static program wants nothing from elsewhere, and may hold functions of that name that do nothing.
  const auto unlinked = not_device_linked(out);
  if (!unlinked) return std::nullopt;
  if (!wanted_symbol(source, host, kNvcxxRegistration).empty())
    return linked_by_nvcxx(out, out.fatbins[unlinked->fatbin]);
  return not_linked(out, out.fatbins[unlinked->fatbin],
                    unlinked->id.empty() ? "the file registers no device link"
                                         : "no device link of the file has '" + unlinked->id + "'");
}

}  // namespace

std::vector<Error> check_completeness(const ByteSource& source, const HostObject& host, DeviceObject& out,
                                      const FatbinList& list, bool whole) {
  const RegistrationProblems problems = read_registrations(source, host, out);
  if (!whole) return {};
  std::vector<Error> errors = answer_registrations(host, out, problems, list.fat_binaries());
  if (problems.unresolved != 0 && host.linked && has_packed_relocations(source, host))
    errors.push_back(
        {object_name(out.path, out.member),
         "its relocations are packed for Android, so that which fat binaries it registers cannot be "
         "told",
         "link it without --pack-dyn-relocs=android, which glibc does not load"});
  // An object may hold device code in other forms: a compiler's bundle, or data.
  const bool holds_code = host.linked ? list.fat_binaries() != 0 : !out.fatbins.empty();
  if (holds_code && host.format == HostFormat::elf)
    if (auto error = check_tables(source, host, out)) errors.push_back(std::move(*error));
  if (!host.linked) {
    if (list.relocatable() != nullptr)
      if (const Section* lost = find_lost_list(source, host, list.fat_binaries()))
        errors.push_back(lost_list(out, *lost));
    for (Error& error :
         link_time_code_in(source, host, list.fat_binaries() != 0, object_name(out.path, out.member)))
      errors.push_back(std::move(error));
    return errors;
  }
  if (!out.link_ids.empty()) out.references = read_host_references(source, host, out.fatbins);
  if (auto error = check_device_link(source, host, out, list.relocatable()))
    errors.push_back(std::move(*error));
  if (auto error = check_objects_elsewhere(source, host, out)) errors.push_back(std::move(*error));
  return errors;
}

}  // namespace archguard::fatbin
