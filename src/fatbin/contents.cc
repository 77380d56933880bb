#include "fatbin/contents.h"

#include <utility>

#include "fatbin/other_file.h"
#include "host/archive_stream.h"
#include "host/host_file.h"
#include "host/zip.h"

namespace archguard::fatbin {

void Contents::add_error(const std::string& member, Error error) {
  error.where = object_name(path, member);
  rest.errors.push_back(std::move(error));
}

void Contents::pass_over(const std::string& member, UnreadKind kind) {
  if (kind == UnreadKind::packed)
    packed.push_back(member);
  else
    rest.passed_over.push_back({object_name(path, member), kind});
}

bool Contents::spend(std::uint64_t bytes) {
  if (bytes > inflated_most - inflated) return false;
  inflated += bytes;
  return true;
}

void Contents::finish(bool beside) {
  any |= beside;
  // Beside binaries such a file is mostly data; alone it may hold all of them.
  if (any) {
    for (const std::string& name : packed)
      rest.passed_over.push_back({object_name(path, name), UnreadKind::packed});
  } else if (rest.errors.empty() && !packed.empty()) {
    is_package = true;
    add_error(packed.front(), {{}, "is packed itself, and is not read", "unpack it and name the folder"});
  }
  if (any && rest.errors.empty() && rest.passed_over.empty()) return;
  rest.recognized = !rest.errors.empty() && !is_package;
  visit(rest, MemorySource({}));
}

MemberStart::MemberStart(const std::string& name, ByteView start, std::uint64_t size)
    : may_be_read(is_zip(start) || may_be_host_file(start, size)),
      searched(is_searched(name, start, size, false)),
      lost(is_lost_binary(name, start) || is_lost_archive(name, start)),
      zeros_of_tar(is_named_like_tar(name) && are_zeros(start)) {
  // An empty file may be the beginning of any; what is searched alone may be a zip file that was lost.
  if (!(may_be_read || lost) || size == 0) unread = unread_kind(name, start);
}

std::optional<DeviceCode> code_of_member(const ByteSource& bytes, const MemberStart& start,
                                         const std::string& path, const std::string& name, Keep keep) {
  if (!is_host_file(bytes)) {
    if (start.searched) {
      DeviceCode code = search_device_code(bytes, path, name, keep);
      if (code.objects.front().holds_fatbins() || !code.errors.empty()) return code;
    }
    if (!start.lost || (start.zeros_of_tar && is_tar_of_nothing(bytes))) return std::nullopt;
  }
  DeviceCode code = read_device_code(bytes, path, name, keep);
  code.recognized = true;  // also a lost one: the file that it stands in is
  return code;
}

}  // namespace archguard::fatbin
