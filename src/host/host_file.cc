#include "host/host_file.h"

#include <algorithm>

#include "base/preflight_format.h"
#include "base/text.h"
#include "elf/elf.h"
#include "host/archive.h"
#include "host/coff_object.h"
#include "host/elf_object.h"
#include "host/mach_o.h"
#include "host/packed.h"
#include "host/zip.h"
#include "image/ptx_text.h"

namespace archguard {
namespace {

constexpr std::size_t kHostFileStartSize = 4096;  // of a file, to tell its format

Result<Bytes> read_start(const ByteSource& source) {
  return read_bytes(source, 0, std::min<std::uint64_t>(kHostFileStartSize, source.size()));
}

// Comments may stand above the first directive for longer than what is read first.
bool is_ptx_file(const ByteSource& source, ByteView start) {
  PtxStart found = ptx_start(start.text());
  std::uint64_t size = start.size;
  while (found == PtxStart::open && size < std::min<std::uint64_t>(source.size(), kPtxHeadMost)) {
    size = std::min<std::uint64_t>({size * 4, source.size(), kPtxHeadMost});
    const auto more = read_bytes(source, 0, size);
    if (!more) return false;  // the file shrank
    found = ptx_start(ByteView(*more).text());
  }
  return found == PtxStart::yes;
}

// Is it for the linker to compile? Then that is an error, and nothing else of it is read.
bool is_left_to_linker(ByteView start, const std::string& where, HostFile& file) {
  const bool gl = is_msvc_gl(start);
  if (!gl && !is_bitcode(start)) return false;
  file.errors.push_back(
      {where,
       gl ? "is an object of MSVC's /GL, whose device code cannot be judged"
          : "is LLVM bitcode, whose device code cannot be judged",
       std::string("compile it without ") + (gl ? "/GL" : "-flto") + ", or verify what it is linked into"});
  file.bitcode.push_back(where);
  return true;
}

// Fills format and sections of an object that is no archive.
void read_object(const ByteSource& source, ByteView start, const std::string& where, HostObject& object,
                 std::vector<Error>& errors) {
  const std::uint32_t magic = Cursor(start).u32(0);
  if (is_big_endian_elf(start) || is_dos_program(start, source)) {
    object.format = HostFormat::foreign;
  } else if (has_elf_magic(start)) {
    read_elf_object(source, where, object, errors);
  } else if (magic == kFatbinMagic || magic == kOldFatbinMagic) {
    object.format = HostFormat::fatbin;
  } else if (magic == kNvvmMagic) {
    object.format = HostFormat::nvvm;
  } else if (magic == kOffloadMagic) {
    object.format = HostFormat::offload;
    object.linked = false;
  } else if (is_pe(start) || is_coff_object(start, source.size())) {
    read_coff_object(source, where, object, errors);
  } else if (is_mach_o(start)) {
    object.format = HostFormat::mach_o;
    object.linked = !is_mach_o_object(start);
  } else if (is_ptx_file(source, start)) {
    object.format = HostFormat::ptx;
  }
}

}  // namespace

PartSource bytes_of(const HostObject& object, const ByteSource& file) {
  return PartSource(object.elsewhere ? *object.elsewhere : file, object.offset, object.size);
}

std::string object_name(const std::string& path, const std::string& member) {
  return member.empty() ? path : path + "(" + member + ")";
}

bool may_be_host_file(ByteView start, std::uint64_t file_size) {
  const std::uint32_t magic = Cursor(start).u32(0);
  return has_elf_magic(start) || magic == kFatbinMagic || magic == kOldFatbinMagic ||
         magic == kOffloadMagic || magic == kNvvmMagic || is_pe(start) || is_coff_object(start, file_size) ||
         is_mach_o(start) || has_archive_magic(start) || ptx_start(start.text()) != PtxStart::no;
}

bool is_host_file(const ByteSource& source) {
  const auto start = read_start(source);
  return start && may_be_host_file(*start, source.size()) &&
         (ptx_start(ByteView(*start).text()) == PtxStart::no || is_ptx_file(source, *start));
}

bool is_debian_package(ByteView start) {
  return has_archive_magic(start) && starts_with(start.text().substr(8), "debian-binary");
}

// deb-split(5).
bool is_part_of_debian_package(ByteView start) {
  return has_archive_magic(start) && starts_with(start.text().substr(8), "debian-split");
}

bool is_git_lfs_pointer(ByteView start) {
  return starts_with(start.text(), "version https://git-lfs.github.com/spec/");
}

bool is_git_annex_pointer(ByteView start) {
  return starts_with(start.text(), "/annex/objects/");
}

bool is_bitcode(ByteView start) {
  const std::uint32_t magic = Cursor(start).u32(0);
  return magic == 0xdec04342 || magic == 0x0b17c0de;
}

// As LLVM's BinaryFormat has it: an anonymous object (u16 0, u16 0xffff), of this class at 12.
bool is_msvc_gl(ByteView start) {
  using namespace std::string_view_literals;
  constexpr std::string_view kClass = "\x38\xfe\xb3\x0c\xa5\xd9\xab\x4d\xac\x9b\xd6\xb6\x22\x26\x53\xc2"sv;
  const Cursor in(start);
  return in.u16(0) == 0 && in.u16(2) == 0xffff && in.part(12, kClass.size()).text() == kClass;
}

namespace {

// Why nothing of such a file can be read.
Error not_recognized(ByteView start, std::uint64_t size, const std::string& name) {
  if (is_git_lfs_pointer(start))
    return {name, "is a pointer of git-lfs, not the file itself", "git lfs pull"};
  if (is_git_annex_pointer(start))
    return {name, "is a pointer of git-annex, not the file itself", "git annex get"};
  if (is_preflight_table(start, size))
    return {name, "is a preflight table, which holds no code", "name the program that it stands beside"};
  if (start.size == 0) return {name, "is empty", "build it again, or copy it whole"};
  if (is_packed(start)) return {name, "is packed, and is not read", "unpack it, and name what comes out"};
  return {name, "is no ELF or PE file, archive, fat binary, cubin or PTX",
          "name what a compiler made, or a package or folder of that"};
}

// The objects of an `ar` archive. `outer`: its own name as a member of a zip file, or empty.
struct ArchiveVisit {
  const ByteSource& source;
  const std::string& path;
  const std::string& outer;
  const std::function<void(const HostObject&)>& visit;
  HostFile& file;

  void run() {
    file.archive = true;
    const auto add = [&](const ArchiveMember& member) { visit_member(member); };
    const auto fail = [&](const std::string& member, Error error) { this->fail(member, std::move(error)); };
    const OpenFile open_beside = beside(path);
    const auto open = [&](const std::string& member) -> Result<std::shared_ptr<const ByteSource>> {
      if (outer.empty()) return open_beside(member);
      return Error{{}, "is a file beside a thin archive, which a zip file cannot hold", {}};
    };
    const Status status = visit_archive(source, open, add, fail);
    if (!status) file.errors.push_back({object_name(path, outer), status.error().what, status.error().fix});
  }

  std::string name_of(const std::string& member) const {
    return outer.empty() ? member : object_name(outer, member);
  }

  void fail(const std::string& member, Error error) {
    error.where = object_name(path, name_of(member));
    file.errors.push_back(std::move(error));
  }

  void visit_member(const ArchiveMember& member) {
    HostObject object;
    object.member = name_of(member.name);
    object.elsewhere = member.elsewhere;
    object.offset = member.offset;
    object.size = member.size;
    const PartSource part = bytes_of(object, source);
    const std::string where = object_name(path, object.member);
    auto start = read_start(part);
    if (!start) return fail(member.name, start.error());
    if (has_archive_magic(*start))
      return fail(
          member.name,
          {{}, "is an archive within an archive, which no linker reads", "unpack it and name its objects"});
    if (is_zip(*start))
      return fail(member.name,
                  {{}, "is a zip file within an archive, which is not read", "unpack it and name it"});
    if (is_packed(*start))
      return fail(member.name, {{}, "is packed itself, and is not read", "unpack it and name the folder"});
    if (!is_left_to_linker(*start, where, file)) read_object(part, *start, where, object, file.errors);
    visit(object);
  }
};

}  // namespace

HostFile visit_host_file(const ByteSource& source, const std::string& path, const std::string& outer,
                         const std::function<void(const HostObject&)>& visit) {
  HostFile file;
  const std::string name = object_name(path, outer);
  auto start = read_start(source);
  if (!start) {
    file.errors.push_back({name, start.error().what, {}});
  } else if (is_zip(*start)) {
    file.errors.push_back(
        {name, "is a zip file, whose members are files of their own", "unpack it and name the folder"});
  } else if (is_debian_package(*start)) {
    file.recognized = false;
    file.errors.push_back({name, "is a Debian package, which is not read",
                           "unpack it and name the folder: dpkg-deb -x " + path + " DIR"});
  } else if (is_part_of_debian_package(*start)) {
    file.errors.push_back({name, "is a part of a Debian package, which is read as a whole alone",
                           "join all of its parts: dpkg-split --join --output PACKAGE.deb PARTS"});
  } else if (has_archive_magic(*start)) {
    ArchiveVisit{source, path, outer, visit, file}.run();
  } else if (is_left_to_linker(*start, name, file)) {
    file.recognized = false;
  } else {
    HostObject object;
    object.member = outer;
    object.size = source.size();
    read_object(source, *start, name, object, file.errors);
    file.recognized = object.format != HostFormat::other;
    if (file.recognized)
      visit(object);
    else
      file.errors.push_back(not_recognized(*start, source.size(), name));
  }
  return file;
}

HostFile read_host_file(const ByteSource& source, const std::string& path) {
  std::vector<HostObject> objects;
  HostFile file =
      visit_host_file(source, path, {}, [&](const HostObject& object) { objects.push_back(object); });
  file.objects = std::move(objects);
  return file;
}

}  // namespace archguard
