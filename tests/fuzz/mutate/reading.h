#pragma once

#include <string>

#include "fatbin/fatbin.h"
#include "host/archive.h"
#include "host/host_file.h"
#include "host/zip.h"

// What the project's readers say of a changed input.
namespace archguard::fuzz {

inline FatbinEntry first_entry(const Bytes& bytes) {
  const DeviceCode code = read_device_code(MemorySource(bytes), "f");
  if (code.objects.empty() || code.objects[0].fatbins.empty()) return {};
  const auto& entries = code.objects[0].fatbins[0].entries;
  return entries.empty() ? FatbinEntry{} : entries[0];
}

// How many entries are read, -1 where something is damaged.
inline int entries_of(const Bytes& bytes) {
  const DeviceCode code = read_device_code(MemorySource(bytes), "f");
  int entries = 0;
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins) entries += static_cast<int>(fatbin.entries.size());
  return code.errors.empty() ? entries : -1;
}

inline std::uint64_t section_size(const Bytes& bytes, const std::string& name) {
  const HostFile file = read_host_file(MemorySource(bytes), "f");
  for (const HostObject& object : file.objects)
    for (const Section& section : object.sections)
      if (section.name == name && section.has_bytes && section.size != 0) return section.size;
  return 0;
}

// "NAME SIZE, " of each, then the error.
inline std::string members(const Bytes& bytes) {
  std::string text;
  const auto open = [](const std::string&) -> Result<std::shared_ptr<const ByteSource>> { return Error{}; };
  const auto visit = [&](const ArchiveMember& member) {
    text += member.name + " " + std::to_string(member.size) + ", ";
  };
  const Status status =
      visit_archive(MemorySource(bytes), open, visit, [](const std::string&, const Error&) {});
  return status ? text : text + status.error().what;
}

// "NAME SIZE METHOD, " of each, then the error.
inline std::string zip_members(const Bytes& bytes) {
  std::string text;
  const Status status = visit_zip(MemorySource(bytes), [&](const ZipMember& member) {
    text += member.name + " " + std::to_string(member.size) + " " + std::to_string(member.method) + ", ";
  });
  return status ? text : text + status.error().what;
}

}  // namespace archguard::fuzz
