#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "container/host_file.h"
#include "container/packed.h"
#include "container/zip.h"
#include "fatbin/fatbin.h"
#include "fatbin/object_reader.h"
#include "fatbin/registrations.h"

namespace archguard {

namespace {

constexpr std::size_t kDepthMost = 4;  // of zip files within zip files
using Visit = std::function<void(const DeviceCode&, const ByteSource&)>;

class ZipVisitor {
 public:
  ZipVisitor(const std::string& path, std::uint64_t size, const Visit& visit)
      : path_(path), inflated_most_(most_inflated_of_zip(size)), visit_(visit) {}

  void read(const ByteSource& zip, const std::string& outer, std::size_t depth) {
    const Status status = visit_zip(zip, [&](const ZipMember& member) {
      const std::string name = outer.empty() ? member.name : object_name(outer, member.name);
      if (holds_conda_files(member.name)) return add_conda_package(outer);
      // Nested, each file may inflate a thousandfold: together they may not.
      if (member.size > inflated_most_ - inflated_)
        return add_error(name, {{}, "is not read: the zip file inflates to too much", {}});
      inflated_ += member.size;
      const auto wanted = [&](ByteView start) {
        const bool may_be_read = is_zip(start) || may_be_host_file(start, member.size);
        if (!may_be_read && is_packed(start)) packed_.push_back(name);
        return may_be_read;
      };
      auto bytes = open_zip_member(zip, member, wanted);
      if (!bytes) return add_error(name, std::move(bytes).error());
      if (*bytes == nullptr || (!holds_files(**bytes) && !is_host_file(**bytes))) return;
      if (depth < kDepthMost && holds_files(**bytes)) return read(**bytes, name, depth + 1);
      any_ = true;
      visit_(read_device_code(**bytes, path_, name), **bytes);
      if (depth < kDepthMost && has_zip_behind(**bytes)) read(**bytes, name, depth + 1);
    });
    if (!status) add_error(outer, status.error());
  }

  // `beside`: what the zip file stands behind was read.
  void finish(bool beside = false) {
    any_ |= beside;
    // Beside binaries such a file is mostly data; alone it may hold all of them.
    if (any_) {
      for (const std::string& name : packed_) rest_.passed_over.push_back(object_name(path_, name));
    } else if (rest_.errors.empty() && !packed_.empty()) {
      is_package_ = true;
      add_error(packed_.front(), {{}, "is packed itself, and is not read", "unpack it and name the folder"});
    }
    if (any_ && rest_.errors.empty() && rest_.passed_over.empty()) return;
    rest_.recognized = !rest_.errors.empty() && !is_package_;
    visit_(rest_, MemorySource({}));
  }

 private:
  static std::uint64_t most_inflated_of_zip(std::uint64_t size) {
    constexpr std::uint64_t kFactor = 1032;  // of one deflate
    return size > UINT64_MAX / kFactor ? UINT64_MAX : size * kFactor;
  }

  // conda's package format 2: a zip file with two compressed tar archives, `pkg-*` and `info-*`.
  static bool holds_conda_files(const std::string& member) {
    return starts_with(member, "pkg-") && ends_with(member, ".tar.zst");
  }

  void add_conda_package(const std::string& outer) {
    is_package_ = outer.empty();
    add_error(outer, {{},
                      "is a conda package, which is not read",
                      "unpack it and name the folder: cph extract " + path_ + " --dest DIR"});
  }

  void add_error(const std::string& member, Error error) {
    error.where = object_name(path_, member);
    rest_.errors.push_back(std::move(error));
  }

  const std::string& path_;
  std::uint64_t inflated_ = 0, inflated_most_;
  const Visit& visit_;
  DeviceCode rest_;  // of no member: what could not be read
  bool any_ = false;
  std::vector<std::string> packed_;  // members that are
  bool is_package_ = false;  // whose files nobody reads: as of a tar archive, in a folder it is passed over
};

}  // namespace

DeviceCode read_device_code(const ByteSource& source, const std::string& path, const std::string& member) {
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
    fatbin::read_object(part, host, object, code);
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

DeviceCode search_device_code(const ByteSource& source, const std::string& path) {
  DeviceCode code;
  DeviceObject object;
  object.path = path;
  object.file_size = source.size();
  HostObject host;
  host.size = source.size();
  fatbin::read_object(source, host, object, code);
  code.objects.push_back(std::move(object));
  return code;
}

bool holds_files(const ByteSource& source) {
  return is_zip(source);
}

void visit_device_code(const ByteSource& source, const std::string& path, const Visit& visit) {
  if (!holds_files(source)) return visit(read_device_code(source, path), source);
  ZipVisitor visitor(path, source.size(), visit);
  visitor.read(source, {}, 1);
  visitor.finish();
}

void visit_code_behind(const ByteSource& program, const std::string& path, const Visit& visit) {
  if (!has_zip_behind(program)) return;
  ZipVisitor visitor(path, program.size(), visit);
  visitor.read(program, {}, 1);
  visitor.finish(true);
}

PartSource bytes_of(const DeviceObject& object, const ByteSource& file) {
  return PartSource(object.elsewhere ? *object.elsewhere : file, object.file_offset, object.file_size);
}

std::string where(const DeviceObject& object, const Container& container) {
  std::string name = object_name(object.path, object.member);
  if (container.section.empty() && container.offset == 0) return name;  // the file is the container
  return place_name(name, container.section, container.offset - container.section_offset);
}

std::string place_name(const std::string& object, const std::string& section, std::uint64_t offset) {
  return object + "(" + section + "+" + hex(offset) + ")";
}

void add_runtime_code(const DeviceObject& object, std::vector<std::string>& functions) {
  functions.insert(functions.end(), object.runtime_code.begin(), object.runtime_code.end());
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
}

std::string image_name(const Entry& entry) {
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
      return (entry.optix ? "OptiX-IR of " : "lto_") + arch;
    case EntryKind::other:
      break;
  }
  return "kind " + hex(entry.kind_code) + " of " + arch;
}

}  // namespace archguard
