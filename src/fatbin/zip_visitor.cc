#include "fatbin/zip_visitor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "fatbin/archive_visitor.h"
#include "host/byte_stream.h"
#include "host/host_file.h"
#include "host/libarchive.h"
#include "io/temporary_file.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kZipPiecesAhead = 16;
// Members that are read at once are listed first, names and all.
constexpr std::size_t kMembersAtOnce = 4096, kMemberNamesMost = std::size_t{1} << 20;
// Small members are handed from thread to thread together.
constexpr std::uint64_t kZipPieceSize = std::uint64_t{256} << 10;
constexpr std::size_t kZipPieceMembers = 64;

std::uint64_t most_inflated_of_zip(std::uint64_t size) {
  constexpr std::uint64_t kFactor = 1032;  // of one deflate
  return size > UINT64_MAX / kFactor ? UINT64_MAX : size * kFactor;
}

// conda's package format 2: a zip file with two compressed tar archives, `pkg-*` and `info-*`.
bool holds_conda_files(const std::string& member) {
  return (starts_with(member, "pkg-") || starts_with(member, "info-")) && ends_with(member, ".tar.zst");
}

}  // namespace

struct ZipVisitor::Members {
  const ByteSource& zip;
  const std::string& outer;
  const std::size_t depth;
  std::vector<ZipMember> all = {};
  std::size_t names = 0;  // bytes
  ZipLinks links = {};

  std::string name_of(const std::string& member) const {
    return outer.empty() ? member : object_name(outer, member);
  }
};

ZipVisitor::ZipVisitor(const std::string& path, std::uint64_t size, const VisitDeviceCode& visit,
                       const MembersRead& progress, Keep keep, const ZipLimits& limits)
    : own_(std::make_unique<Contents>(path, visit, keep, most_inflated_of_zip(size))),
      in_(*own_),
      progress_(progress),
      limits_(limits) {}

ZipVisitor::ZipVisitor(Contents& contents) : in_(contents) {}

void ZipVisitor::read(const ByteSource& zip, const std::string& outer, std::size_t depth, Ahead* of_outer) {
  std::optional<Ahead::Rest> rest;
  if (of_outer != nullptr) rest.emplace(*of_outer);
  if (depth == 1 && progress_) members_ = count_zip_members(zip);
  Members members{zip, outer, depth};
  const Status status = visit_zip(zip, [&](const ZipMember& member) {
    members.names += member.name.size();
    members.all.push_back(member);
    if (members.all.size() == kMembersAtOnce || members.names > kMemberNamesMost) read(members);
  });
  read(members);
  if (!status) return in_.add_error(outer, status.error());
  add_broken_links(members);
}

// Reads them, and leaves none.
void ZipVisitor::read(Members& members) {
  struct Piece {
    std::size_t begin = 0, end = 0;
    std::uint64_t size = 0, on_disk = 0;
  };
  // What will not be inflated in its turn is not inflated ahead: zip files within this one add to the sum, so
  // this is the least that it comes to.
  std::vector<bool> ahead_of_turn;
  std::vector<Piece> pieces;
  std::uint64_t inflated = in_.inflated;
  for (std::size_t i = 0; i < members.all.size(); ++i) {
    const ZipMember& member = members.all[i];
    const bool read = !holds_conda_files(member.name) && member.size <= in_.inflated_most - inflated;
    ahead_of_turn.push_back(read);
    if (pieces.empty() || pieces.back().size >= kZipPieceSize || i - pieces.back().begin == kZipPieceMembers)
      pieces.push_back({i, i});
    Piece& piece = pieces.back();
    piece.end = i + 1;
    if (!read) continue;
    inflated += member.size;
    piece.size += member.size;
    if (is_inflated_to_disk(member)) piece.on_disk += member.size;
  }
  std::optional<Ahead> ahead;
  if (pieces.size() > 1 && limits_.threads > 1 && !careful_)
    ahead.emplace(
        pieces.size(), kZipPiecesAhead,
        [&](std::size_t i, unsigned) {
          std::vector<Opened> opened(pieces[i].end - pieces[i].begin);
          for (std::size_t j = pieces[i].begin; j < pieces[i].end && !careful_; ++j)
            if (ahead_of_turn[j]) opened[j - pieces[i].begin] = open(members, members.all[j]);
          return opened;
        },
        limits_.threads,
        Ahead::Load{[&](std::size_t i) { return pieces[i].on_disk; },
                    std::min(limits_.on_disk, TemporaryFile::room() / 2)});
  for (const Piece& piece : pieces) {
    std::vector<Opened> opened;
    if (ahead) opened = ahead->next();
    opened.resize(piece.end - piece.begin);
    for (std::size_t i = piece.begin; i < piece.end; ++i)
      take(members, members.all[i], std::move(opened[i - piece.begin]), ahead ? &*ahead : nullptr);
  }
  ahead.reset();
  members.all.clear();
  members.names = 0;
}

ZipVisitor::Opened ZipVisitor::open(const Members& members, const ZipMember& member) const {
  Opened opened;
  opened.tried = true;
  MemberStart first;
  const auto wanted = [&](ByteView start) {
    first = MemberStart(member.name, start, member.size);
    if (member.link) opened.link_to = start.text();
    if (member.link) first.lost = false;
    opened.unread = first.unread;
    return first.wanted();
  };
  auto bytes = open_zip_member(members.zip, member, wanted);
  if (!bytes) {
    opened.error = std::move(bytes).error();
    return opened;
  }
  if (*bytes == nullptr) return opened;
  if (!is_zip(**bytes)) {
    opened.code = code_of_member(**bytes, first, in_.path, members.name_of(member.name), in_.keep);
    if (!opened.code) return opened;
  } else if (members.depth == kDepthMost) {
    opened.code = read_device_code(**bytes, in_.path, members.name_of(member.name), in_.keep);
    opened.code->recognized = true;
  }
  opened.bytes = std::move(*bytes);
  return opened;
}

void ZipVisitor::take(Members& members, const ZipMember& member, Opened opened, Ahead* ahead) {
  if (members.depth == 1 && progress_) progress_(taken_++, members_);
  const std::string name = members.name_of(member.name);
  if (holds_conda_files(member.name)) return read_conda_files(members, member);
  // Nested, each file may inflate a thousandfold: together they may not.
  if (!in_.spend(member.size)) {
    if (opened.tried) careful_ = true;
    return in_.add_error(name, {{}, "is not read: the zip file inflates to too much", {}});
  }
  if (!opened.tried) opened = open(members, member);
  if (opened.unread) in_.pass_over(name, *opened.unread);
  if (opened.error) return in_.add_error(name, std::move(*opened.error));
  if (opened.link_to) members.links.add(member.name, *opened.link_to);
  if (opened.bytes == nullptr) return;
  if (!opened.code) return read(*opened.bytes, name, members.depth + 1, ahead);
  in_.any = true;
  in_.visit(*opened.code, *opened.bytes);
  if (members.depth < kDepthMost && has_zip_behind(*opened.bytes))
    read(*opened.bytes, name, members.depth + 1, ahead);
}

// Zip files of a build's files hold them, as pip's never do; unpacked, they are broken links in a folder.
void ZipVisitor::add_broken_links(const Members& members) {
  const auto broken = members.links.broken([&](const VisitName& name) {
    return visit_zip(members.zip, [&](const ZipMember& member) {
      if (!member.link) name(member.name);
    });
  });
  if (!broken) return in_.add_error(members.outer, broken.error());
  for (const std::string& name : *broken) in_.pass_over(members.name_of(name), UnreadKind::broken_link);
}

// The names of files are those that they get when the package is installed.
void ZipVisitor::read_conda_files(const Members& members, const ZipMember& member) {
  if (LibArchive::get() == nullptr) {
    if (std::exchange(lacks_libarchive_, true)) return;
    in_.is_package |= members.outer.empty();
    Error error = libarchive_missing("is a conda package");
    if (members.outer.empty()) error.fix += ": cph extract " + in_.path + " --dest DIR";
    return in_.add_error(members.outer, std::move(error));
  }
  in_.inflated_most = std::max(in_.inflated_most, most_inflated_of_archive(0));
  const std::string name = members.name_of(member.name);
  if (!in_.spend(member.size))
    return in_.add_error(name, {{}, "is not read: the zip file inflates to too much", {}});
  const auto bytes = open_zip_member(members.zip, member, [](ByteView) { return true; });
  if (!bytes) return in_.add_error(name, bytes.error());
  if (members.depth == kDepthMost) return in_.add_error(name, too_deep());
  SourceStream stream(**bytes);
  ArchiveVisitor(in_).read_package(stream, name, members.outer, members.depth + 1);
}

}  // namespace archguard::fatbin
