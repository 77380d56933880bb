#include "fatbin/archive_visitor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "fatbin/other_file.h"
#include "fatbin/zip_visitor.h"
#include "host/archive.h"
#include "host/host_file.h"
#include "host/kept_bytes.h"
#include "host/tar_stream.h"
#include "host/zip.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kArchiveNamesMost = std::size_t{64} << 20;  // bytes that are kept of names, for links

Result<Bytes> start_of(const ByteSource& source) {
  return read_bytes(source, 0, std::min<std::uint64_t>(4096, source.size()));
}

// All bytes of a member, which must be `size` where that is told.
Result<std::unique_ptr<ByteSource>> keep_member(ByteStream& bytes, std::optional<std::uint64_t> size) {
  constexpr std::uint64_t kBlock = std::uint64_t{256} << 10;
  const std::function<bool(ByteView)> all = [](ByteView) { return true; };
  KeptBytes kept(all);
  Bytes block(static_cast<std::size_t>(std::min(kBlock, size.value_or(kBlock) + 1)));
  std::uint64_t made = 0;
  while (true) {
    ARCHGUARD_TRY(count, bytes.next(block.data(), block.size()));
    if (count == 0) break;
    made += count;
    ARCHGUARD_CHECK(kept.take({block.data(), count}));
  }
  if (size && made != *size)
    return Error{
        {}, "is damaged: it must have " + count_of(*size, "byte") + ", found " + std::to_string(made), {}};
  return kept.finish();
}

}  // namespace

struct ArchiveVisitor::Archive {
  const std::string& outer;
  const std::size_t depth;
  ZipLinks links = {};
  std::vector<std::string> files = {};
  std::size_t names = 0;  // bytes

  std::string name_of(const std::string& member) const {
    return outer.empty() ? member : object_name(outer, member);
  }
};

Error too_deep() {
  return {{},
          "is an archive within " + std::to_string(kDepthMost) + " others, which is not read",
          "unpack it and name the folder"};
}

bool may_be_archive_file(ByteView start) {
  return may_be_archive_stream(start) || is_rpm(start) || is_debian_package(start);
}

std::uint64_t most_inflated_of_archive(std::uint64_t size) {
  constexpr std::uint64_t kFactor = 1032, kLeast = std::uint64_t{256} << 20;
  return size > UINT64_MAX / kFactor ? UINT64_MAX : std::max(size * kFactor, kLeast);
}

bool ArchiveVisitor::read_file(const ByteSource& source, const std::string& outer, std::size_t depth) {
  const auto start = start_of(source);
  if (!start) {
    in_.add_error(outer, start.error());
    return true;
  }
  if (is_debian_package(*start)) return read_debian(source, outer, depth);
  if (is_rpm(*start)) return read_rpm(source, outer, depth);
  SourceStream stream(source);
  return read(stream, outer, depth, outer, outer.empty() ? &in_.path : &outer);
}

void ArchiveVisitor::read_package(ByteStream& stream, const std::string& name, const std::string& outer,
                                  std::size_t depth) {
  if (!read(stream, outer, depth, name, nullptr))
    in_.add_error(
        name,
        {{}, "holds no archive that is known, so the package is not read", "unpack it and name the folder"});
}

void ArchiveVisitor::read_layer(ByteStream& stream, const std::string& name,
                                const std::function<bool(const StreamMember&)>& stays) {
  Archive archive{name, 2};
  const auto found = visit(stream, [&](const StreamMember& member, ByteStream& bytes) {
    if (stays(member)) take(archive, member, bytes);
    return true;
  });
  if (!found)
    in_.add_error(name, found.error());
  else if (*found == StreamKind::other)
    in_.add_error(name, {{}, "is no tar archive, so its files are not read", {}});
}

Result<StreamKind> ArchiveVisitor::visit(ByteStream& stream, const VisitStreamMember& visit,
                                         const VisitCompressed& visit_compressed) {
  const Spend spend = [&](std::uint64_t bytes) -> Status {
    if (in_.spend(bytes)) return Done{};
    return Error{{}, "is not read whole: it inflates to too much", "unpack it and name the folder"};
  };
  return visit_archive_stream(stream, spend, visit, visit_compressed);
}

bool ArchiveVisitor::read(ByteStream& stream, const std::string& outer, std::size_t depth,
                          const std::string& named, const std::string* own) {
  Archive archive{outer, depth};
  const auto visit_member = [&](const StreamMember& member, ByteStream& bytes) {
    take(archive, member, bytes);
    return true;
  };
  VisitCompressed visit_file;
  if (own != nullptr) visit_file = [&](ByteStream& bytes) { read_compressed(bytes, outer, *own, depth); };
  const auto found = visit(stream, visit_member, visit_file);
  if (!found)
    in_.add_error(named, found.error());
  else if (*found == StreamKind::other)
    return false;
  add_broken_links(archive);
  return true;
}

void ArchiveVisitor::take(Archive& archive, const StreamMember& member, ByteStream& bytes) {
  if (member.kind == StreamMember::Kind::link) archive.links.add(member.name, member.target);
  const bool is_hard_link = member.kind == StreamMember::Kind::other && !member.target.empty();
  if (is_hard_link) archive.links.add(member.name, target_from_top(member.name, member.target));
  if (member.kind == StreamMember::Kind::file && archive.names < kArchiveNamesMost) {
    archive.names += member.name.size();
    archive.files.push_back(member.name);
  }
  if (member.kind == StreamMember::Kind::file && !member.later) read_member(archive, member, bytes);
}

void ArchiveVisitor::read_member(Archive& archive, const StreamMember& member, ByteStream& bytes) {
  const std::string name = archive.name_of(member.name);
  PeekedStream peeked(bytes);
  const auto start = peeked.start();
  if (!start) return in_.add_error(name, start.error());
  const MemberStart first(member.name, *start, member.size);
  const bool is_stream = may_be_archive_stream(*start) && !first.may_be_read;
  if (is_stream && archive.depth < kDepthMost) {
    if (!read(peeked, name, archive.depth + 1, name, &member.name)) in_.pass_over(name, UnreadKind::packed);
    return;
  }
  if (is_stream) return in_.add_error(name, too_deep());
  const bool is_package = is_rpm(*start);
  if (first.unread && !is_package) in_.pass_over(name, *first.unread);
  if (!first.wanted() && !is_package) return;
  // A sparse file has bytes that the archive does not hold.
  if (!in_.spend(member.size))
    return in_.add_error(
        name, {{}, "is not read: the archive inflates to too much", "unpack it and name the folder"});
  const auto kept = keep_member(peeked, member.size);
  if (!kept) return in_.add_error(name, kept.error());
  read_within(**kept, first, name, archive.depth);
}

// "lib/libfoo.so.gz" holds libfoo.so. One that is named as what it holds is refused. A tar archive of nothing
// is zeros alone.
void ArchiveVisitor::read_compressed(ByteStream& bytes, const std::string& name, const std::string& own,
                                     std::size_t depth) {
  if (is_named_like_program(own) || is_named_like_image(own) || (name.empty() && is_named_like_object(own)))
    return in_.add_error(
        name,
        {{},
         "is packed, and named as a program, library, object or image, which no loader, "
         "linker or driver takes so",
         "unpack it into another file: gzip -dc FILE > NEW, or xz, zstd or bzip2 -dc, as `file` tells"});
  const auto kept = keep_member(bytes, std::nullopt);
  if (!kept) return in_.add_error(name, kept.error());
  const auto start = start_of(**kept);
  if (!start) return in_.add_error(name, start.error());
  if (is_named_like_archive(own) && !start->empty() && are_zeros(*start)) {
    if (is_tar_of_nothing(**kept)) return;
    return in_.add_error(
        name, {{},
               "begins with zeros where a tar archive has the name of its first file: its beginning "
               "was lost",
               "get it again"});
  }
  const MemberStart first(own.substr(0, own.rfind('.')), *start, (*kept)->size());
  const bool is_package = is_rpm(*start);
  if (first.unread && !is_package) in_.pass_over(name, *first.unread);
  if (first.wanted() || is_package) read_within(**kept, first, name, depth);
  // A file that was named itself is no binary, so that it holds no device code is not known.
  if (name.empty() && !in_.any && !first.unread) in_.pass_over(name, UnreadKind::packed);
}

void ArchiveVisitor::read_within(const ByteSource& bytes, const MemberStart& start, const std::string& name,
                                 std::size_t depth) {
  const auto begin = start_of(bytes);
  const bool is_package = begin && (is_rpm(*begin) || is_debian_package(*begin));
  if ((is_package || is_zip(bytes)) && depth == kDepthMost) return in_.add_error(name, too_deep());
  if (is_package) return static_cast<void>(read_file(bytes, name, depth + 1));
  if (is_zip(bytes)) return ZipVisitor(in_).read_within(bytes, name, depth + 1);
  const auto code = code_of_member(bytes, start, in_.path, name, in_.keep);
  if (!code) return;
  in_.any = true;
  in_.visit(*code, bytes);
  if (depth < kDepthMost && has_zip_behind(bytes)) ZipVisitor(in_).read_within(bytes, name, depth + 1);
}

void ArchiveVisitor::add_broken_links(const Archive& archive) {
  const auto broken = archive.links.broken([&](const VisitName& name) -> Status {
    for (const std::string& file : archive.files) name(file);
    return Done{};
  });
  if (!broken) return in_.add_error(archive.outer, broken.error());
  for (const std::string& name : *broken) in_.pass_over(archive.name_of(name), UnreadKind::broken_link);
}

// deb(5): an ar archive of debian-binary, control.tar.* and data.tar.*, which has the files.
bool ArchiveVisitor::read_debian(const ByteSource& package, const std::string& outer, std::size_t depth) {
  bool any_data = false;
  const OpenFile open = [](const std::string&) -> Result<std::shared_ptr<const ByteSource>> {
    return Error{{}, "is a file beside a thin archive, which a package cannot hold", {}};
  };
  const auto visit = [&](const ArchiveMember& member) {
    if (!starts_with(member.name, "data.tar") || member.elsewhere != nullptr) return;
    any_data = true;
    const PartSource part(package, member.offset, member.size);
    SourceStream stream(part);
    read_package(stream, outer.empty() ? member.name : object_name(outer, member.name), outer, depth);
  };
  const auto fail = [&](const std::string& member, Error error) {
    in_.add_error(outer.empty() ? member : object_name(outer, member), std::move(error));
  };
  const Status status = visit_archive(package, open, visit, fail);
  if (!status)
    in_.add_error(outer, status.error());
  else if (!any_data)
    in_.add_error(outer, {{}, "is a Debian package without data.tar, where its files are", {}});
  return true;
}

bool ArchiveVisitor::read_rpm(const ByteSource& package, const std::string& outer, std::size_t depth) {
  const auto at = payload_of_rpm(package);
  if (!at) {
    in_.add_error(outer, at.error());
    return true;
  }
  const PartSource payload(package, *at, package.size() - *at);
  SourceStream stream(payload);
  if (!read(stream, outer, depth, outer, nullptr))
    in_.add_error(outer, {{},
                          "is an RPM package whose files are in a format that is not read",
                          "unpack it and name the folder: rpm2archive"});
  return true;
}

}  // namespace archguard::fatbin
