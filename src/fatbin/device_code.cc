#include <algorithm>

#include "base/text.h"
#include "fatbin/archive_visitor.h"
#include "fatbin/contents.h"
#include "fatbin/device_object.h"
#include "fatbin/fatbin.h"
#include "fatbin/format.h"
#include "fatbin/other_file.h"
#include "fatbin/registrations.h"
#include "fatbin/saved_image_visitor.h"
#include "fatbin/zip_visitor.h"
#include "host/archive_stream.h"
#include "host/host_file.h"
#include "host/packed.h"
#include "host/zip.h"

namespace archguard {
namespace {

constexpr std::uint64_t kArchiveStart = 4096;

}  // namespace

DeviceCode read_device_code(const ByteSource& source, const std::string& path, const std::string& member,
                            Keep keep) {
  fatbin::Kept kept(keep);
  DeviceCode code;
  code.member = member;
  HostFile file = visit_host_file(source, path, member, [&](const HostObject& host) {
    DeviceObject object;
    object.path = path;
    object.member = host.member;
    object.file_offset = host.offset;
    object.file_size = host.size;
    object.elsewhere = host.elsewhere;
    object.linked = host.linked;
    const PartSource part = bytes_of(object, source);
    fatbin::read_device_object(part, host, object, code, kept);
    if (host.format == HostFormat::foreign && object.holds_fatbins())
      code.errors.push_back(
          {object_name(path, host.member),
           "holds device code, and its header is that of a big-endian machine or of DOS, which "
           "CUDA was never made for: the header is damaged, or the code is of no use",
           "build it again for x86_64 or aarch64"});
    const bool is_member = host.format == HostFormat::other && host.member != member;
    const auto start = is_member ? read_bytes(part, 0, std::min<std::uint64_t>(kArchiveStart, host.size))
                                 : Result<Bytes>(Error{});
    std::string_view own_name = host.member;
    if (!member.empty() && is_member)
      own_name = own_name.substr(member.size() + 1, own_name.size() - member.size() - 2);
    if (start && is_lost_member(own_name, *start))
      code.errors.push_back(
          {object_name(path, host.member),
           "holds nothing, zeros or a text where an object begins: it was lost before it came here",
           "build it, and make the archive again"});
    const bool is_program = host.linked && host.member == member &&
                            (host.format == HostFormat::elf || host.format == HostFormat::pe);
    if (is_program) code.packed_at = packed_in_program(part, host);
    code.objects.push_back(std::move(object));
  });
  for (Error& error : file.errors) code.errors.push_back(std::move(error));
  code.bitcode = std::move(file.bitcode);
  fatbin::find_device_links(code);
  code.archive = file.archive;
  code.recognized = file.recognized;
  return code;
}

DeviceCode search_device_code(const ByteSource& source, const std::string& path, const std::string& member,
                              Keep keep) {
  fatbin::Kept kept(keep);
  DeviceCode code;
  code.member = member;
  DeviceObject object;
  object.path = path;
  object.member = member;
  object.file_size = source.size();
  HostObject host;
  host.member = member;
  host.size = source.size();
  fatbin::read_device_object(source, host, object, code, kept);
  const auto start = object.holds_fatbins()
                         ? read_bytes(source, 0, std::min<std::uint64_t>(kArchiveStart, source.size()))
                         : Result<Bytes>(Error{});
  if (start && has_lost_start(member.empty() ? path : member, *start))
    code.errors.push_back({object_name(path, member),
                           "holds device code, and begins as no program, library, object or archive: its "
                           "start was overwritten, and more of it may be lost",
                           "build it again, or get it again"});
  else if (start && has_lost_elf_header(source))
    code.errors.push_back({object_name(path, member),
                           "holds the names of a program's or library's sections and not its beginning, "
                           "which was overwritten; more of it may be lost",
                           "build it again, or get it again"});
  else if (object.holds_fatbins() && holds_archive_headers(source))
    code.errors.push_back({object_name(path, member),
                           "holds headers of an archive and does not begin with one: it may be damaged, and "
                           "what is packed in it is not read",
                           "unpack it and name the folder"});
  code.objects.push_back(std::move(object));
  return code;
}

bool holds_files(const ByteSource& source) {
  if (is_zip(source)) return true;
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(kArchiveStart, source.size()));
  return start && fatbin::may_be_archive_file(*start);
}

void visit_device_code(const ByteSource& source, const std::string& path, const VisitDeviceCode& visit,
                       const MembersRead& progress, Keep keep) {
  if (fatbin::is_index_of_layout(path)) {
    const fatbin::SavedImageFolder files(path);
    fatbin::Contents contents(path, visit, keep, fatbin::most_inflated_of_archive(files.size()));
    if (fatbin::SavedImageVisitor(files, contents).read()) return contents.finish(false);
  }
  if (is_tar_of_nothing(path, source)) return fatbin::Contents(path, visit, keep, 0).finish(false);
  if (is_zip(source)) {
    fatbin::ZipVisitor visitor(path, source.size(), visit, progress, keep);
    visitor.read(source);
    return visitor.finish();
  }
  if (holds_files(source)) {
    fatbin::Contents contents(path, visit, keep, fatbin::most_inflated_of_archive(source.size()));
    if (fatbin::SavedImageVisitor(fatbin::SavedImageArchive(source), contents).read())
      return contents.finish(false);
    if (fatbin::ArchiveVisitor(contents).read_file(source, {}, 1)) return contents.finish(false);
  }
  visit(read_device_code(source, path, {}, keep), source);
}

bool is_saved_image(const std::string& path) {
  return fatbin::is_index_of_layout(path);
}

void visit_code_behind(const ByteSource& program, const std::string& path, const VisitDeviceCode& visit,
                       const MembersRead& progress, Keep keep) {
  if (!has_zip_behind(program)) return;
  fatbin::ZipVisitor visitor(path, program.size(), visit, progress, keep);
  visitor.read(program);
  visitor.finish(true);
}

PartSource bytes_of(const DeviceObject& object, const ByteSource& file) {
  return PartSource(object.elsewhere ? *object.elsewhere : file, object.file_offset, object.file_size);
}

std::string where(const DeviceObject& object, const Fatbin& fatbin) {
  std::string name = object_name(object.path, object.member);
  if (fatbin.section.empty() && fatbin.offset == 0) return name;  // the file is the fat binary
  return place_name(name, fatbin.section, fatbin.offset - fatbin.section_offset);
}

std::string place_name(const std::string& object, const std::string& section, std::uint64_t offset) {
  return object + "(" + section + "+" + hex(offset) + ")";
}

void add_runtime_code(const DeviceObject& object, std::vector<std::string>& functions) {
  functions.insert(functions.end(), object.runtime_code.begin(), object.runtime_code.end());
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
}

std::string image_name(const FatbinEntry& entry) {
  const std::string arch = to_string(entry.arch);
  switch (entry.kind) {
    case EntryKind::sass: {
      std::string name = "sm_" + arch;
      for (const Arch other : entry.or_archs) name += " or sm_" + to_string(other);
      return name;
    }
    case EntryKind::ptx:
      return "compute_" + arch;
    case EntryKind::reloc_ptx:
      return "compute_" + arch + " (relocatable)";
    case EntryKind::ltoir:
      return (entry.optix ? "OptiX-IR of " : entry.own_arch ? "LLVM bitcode of sm_" : "lto_") + arch;
    case EntryKind::other:
      if (entry.kind_code == fatbin::kKindConcatenated) return "concatenated";
      if (entry.kind_code == fatbin::kKindTileIr)
        return entry.arch.number == 0 ? "Tile IR" : "Tile IR of " + arch;
      break;
  }
  return "kind " + hex(entry.kind_code) + " of " + arch;
}

bool is_tile_ir(const FatbinEntry& entry) {
  return entry.kind_code == fatbin::kKindTileIr && entry.unknown == fatbin::kTileIrUnknown;
}

std::string fix_of_unknown(const FatbinEntry& entry) {
  return entry.kind_code == fatbin::kKindConcatenated ? "build it without --concat" : "";
}

}  // namespace archguard
