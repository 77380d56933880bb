#include "fatbin/zip_visitor.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/other_file.h"
#include "host/host_file.h"
#include "io/temporary_file.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kDepthMost = 4;  // of zip files within zip files
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
  return starts_with(member, "pkg-") && ends_with(member, ".tar.zst");
}

}  // namespace

struct ZipVisitor::Members {
  const ByteSource& zip;
  const std::string& outer;
  const std::size_t depth;
  std::vector<ZipMember> all = {};
  std::size_t names = 0;  // bytes

  std::string name_of(const ZipMember& member) const {
    return outer.empty() ? member.name : object_name(outer, member.name);
  }
};

ZipVisitor::ZipVisitor(const std::string& path, std::uint64_t size, const VisitDeviceCode& visit,
                       const MembersRead& progress, Keep keep, const ZipLimits& limits)
    : path_(path),
      visit_(visit),
      progress_(progress),
      keep_(keep),
      limits_(limits),
      inflated_most_(most_inflated_of_zip(size)) {}

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
  if (!status) add_error(outer, status.error());
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
  std::uint64_t inflated = inflated_;
  for (std::size_t i = 0; i < members.all.size(); ++i) {
    const ZipMember& member = members.all[i];
    const bool read = !holds_conda_files(member.name) && member.size <= inflated_most_ - inflated;
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
  bool searched = false, lost = false;
  const auto wanted = [&](ByteView start) {
    const bool may_be_read = is_zip(start) || may_be_host_file(start, member.size);
    searched = is_searched(member.name, start, member.size, false);
    lost = !member.link && is_lost_binary(member.name, start);
    if (!may_be_read && !searched && !lost) opened.unread = unread_kind(member.name, start);
    return may_be_read || searched || lost;
  };
  auto bytes = open_zip_member(members.zip, member, wanted);
  if (!bytes) {
    opened.error = std::move(bytes).error();
    return opened;
  }
  if (*bytes == nullptr) return opened;
  const bool zip = holds_files(**bytes);
  const std::string name = members.name_of(member);
  if (!zip && !is_host_file(**bytes)) {
    if (searched) opened.code = search_device_code(**bytes, path_, name, keep_);
    const bool found =
        searched && (opened.code->objects.front().holds_fatbins() || !opened.code->errors.empty());
    if (!found) opened.code.reset();
    if (!found && !lost) return opened;
  }
  if (!opened.code && (!zip || members.depth == kDepthMost)) {
    opened.code = read_device_code(**bytes, path_, name, keep_);
    opened.code->recognized = true;  // also a lost one: the zip file is
  }
  opened.bytes = std::move(*bytes);
  return opened;
}

void ZipVisitor::take(const Members& members, const ZipMember& member, Opened opened, Ahead* ahead) {
  if (members.depth == 1 && progress_) progress_(taken_++, members_);
  const std::string name = members.name_of(member);
  if (holds_conda_files(member.name)) return add_conda_package(members.outer);
  // Nested, each file may inflate a thousandfold: together they may not.
  if (member.size > inflated_most_ - inflated_) {
    if (opened.tried) careful_ = true;
    return add_error(name, {{}, "is not read: the zip file inflates to too much", {}});
  }
  inflated_ += member.size;
  if (!opened.tried) opened = open(members, member);
  if (opened.unread == UnreadKind::packed)
    packed_.push_back(name);
  else if (opened.unread)
    rest_.passed_over.push_back({object_name(path_, name), *opened.unread});
  if (opened.error) return add_error(name, std::move(*opened.error));
  if (opened.bytes == nullptr) return;
  if (!opened.code) return read(*opened.bytes, name, members.depth + 1, ahead);
  any_ = true;
  visit_(*opened.code, *opened.bytes);
  if (members.depth < kDepthMost && has_zip_behind(*opened.bytes))
    read(*opened.bytes, name, members.depth + 1, ahead);
}

void ZipVisitor::finish(bool beside) {
  any_ |= beside;
  // Beside binaries such a file is mostly data; alone it may hold all of them.
  if (any_) {
    for (const std::string& name : packed_)
      rest_.passed_over.push_back({object_name(path_, name), UnreadKind::packed});
  } else if (rest_.errors.empty() && !packed_.empty()) {
    is_package_ = true;
    add_error(packed_.front(), {{}, "is packed itself, and is not read", "unpack it and name the folder"});
  }
  if (any_ && rest_.errors.empty() && rest_.passed_over.empty()) return;
  rest_.recognized = !rest_.errors.empty() && !is_package_;
  visit_(rest_, MemorySource({}));
}

void ZipVisitor::add_conda_package(const std::string& outer) {
  is_package_ = outer.empty();
  add_error(outer, {{},
                    "is a conda package, which is not read",
                    "unpack it and name the folder: cph extract " + path_ + " --dest DIR"});
}

void ZipVisitor::add_error(const std::string& member, Error error) {
  error.where = object_name(path_, member);
  rest_.errors.push_back(std::move(error));
}

}  // namespace archguard::fatbin
