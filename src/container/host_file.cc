#include "container/host_file.h"

#include <algorithm>

#include "base/text.h"
#include "container/archive.h"
#include "container/elf.h"
#include "container/elf_object.h"
#include "container/pe_object.h"
#include "container/ptx_text.h"

namespace archguard {
namespace {

constexpr std::size_t kStartSize = 4096;            // of a file, to tell its format
constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;  // little-endian; docs/reference/fatbin.md
constexpr std::uint32_t kOldFatbinMagic = 0x1EE55A01;

Result<Bytes> read_start(const ByteSource& source) {
  return read_bytes(source, 0, std::min<std::uint64_t>(kStartSize, source.size()));
}

// Fills format and sections of an object that is no archive.
void read_object(const ByteSource& source, ByteView start, const std::string& where, HostObject& object,
                 std::vector<Error>& errors) {
  const std::uint32_t magic = Cursor(start).u32(0);
  if (has_elf_magic(start)) {
    read_elf_object(source, where, object, errors);
  } else if (magic == kFatbinMagic || magic == kOldFatbinMagic) {
    object.format = HostFormat::fatbin;
  } else if (is_pe(start) || is_coff_object(start, source.size())) {
    read_pe_object(source, where, object, errors);
  } else if (is_ptx(start.text())) {
    object.format = HostFormat::ptx;
  }
}

}  // namespace

std::string object_name(const std::string& path, const std::string& member) {
  return member.empty() ? path : path + "(" + member + ")";
}

HostFile visit_host_file(const ByteSource& source, const std::string& path,
                         const std::function<void(const HostObject&)>& visit) {
  HostFile file;
  auto start = read_start(source);
  if (!start) {
    file.errors.push_back({path, start.error().what, {}});
    return file;
  }
  if (starts_with(ByteView(*start).text(), "PK\3\4")) {
    file.errors.push_back(
        {path, "is a zip file or wheel, whose members are compressed", "unpack it and name the folder"});
    return file;
  }
  if (has_archive_magic(*start)) {
    file.archive = true;
    const Status status = visit_archive(source, [&](const ArchiveMember& member) {
      HostObject object;
      object.member = member.name;
      object.offset = member.offset;
      object.size = member.size;
      const PartSource part(source, member.offset, member.size);
      const std::string where = object_name(path, member.name);
      auto member_start = read_start(part);
      if (!member_start) {
        file.errors.push_back({where, member_start.error().what, {}});
        return;
      }
      if (has_archive_magic(*member_start)) {
        file.errors.push_back({where, "is an archive within an archive, which no linker reads",
                               "unpack it and name its objects"});
        return;
      }
      read_object(part, *member_start, where, object, file.errors);
      visit(object);
    });
    if (!status) file.errors.push_back({path, status.error().what, status.error().fix});
    return file;
  }
  HostObject object;
  object.size = source.size();
  read_object(source, *start, path, object, file.errors);
  if (object.format == HostFormat::other) {
    file.recognized = false;
    file.errors.push_back(
        {path,
         source.size() == 0 ? "is empty" : "is no ELF or PE file, archive, fat binary, cubin or PTX",
         {}});
    return file;
  }
  visit(object);
  return file;
}

HostFile read_host_file(const ByteSource& source, const std::string& path) {
  std::vector<HostObject> objects;
  HostFile file = visit_host_file(source, path, [&](const HostObject& object) { objects.push_back(object); });
  file.objects = std::move(objects);
  return file;
}

}  // namespace archguard
