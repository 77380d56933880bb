#include "installed/owners.h"

#include <map>
#include <utility>

#include "base/text.h"
#include "host/zip.h"
#include "installed/conda.h"
#include "installed/dpkg.h"
#include "installed/python.h"

namespace archguard {
namespace {

using installed::Claims;

constexpr int kZipsInZips = 4;
constexpr int kBracketsMost = 8;  // in the name of a member, that are taken for those of a zip file

// What a path may be called in a database: as it is written, with the folder that its links lead to, and
// without any link.
std::vector<std::string> names_of_path(const std::string& path, installed::RootedPaths& rooted) {
  std::vector<std::string> names;
  const auto inside = rooted.inside(path);
  if (!inside) return names;
  if (inside->find("/..") == std::string::npos) names.push_back("/" + installed::plain_path(*inside));
  names.push_back(rooted.with_real_folder(*inside));
  names.push_back(rooted.real(*inside));
  return names;
}

// One zip file, and those in it.
class ZipOwners {
 public:
  struct Asked {
    std::string member;  // as it is called in the zip file
    std::size_t index;
  };

  explicit ZipOwners(Owners& owners) : owners_(owners) {}

  void read(const ByteSource& zip, const std::string& path, const std::vector<Asked>& asked, int depth) {
    Claims claims;
    std::map<std::string, std::vector<Asked>> in_zips;  // by the zip files that they may stand in
    for (const Asked& each : asked) {
      claims.ask(each.member);
      if (depth < kZipsInZips) add_inner(each, in_zips);
    }
    std::map<std::string, DistInfo> found;  // by their folders
    std::vector<ZipMember> zips;
    // What is damaged is told where the members are judged.
    static_cast<void>(visit_zip(zip, [&](const ZipMember& member) {
      const auto slash = std::min(member.name.rfind('/'), member.name.size());
      const std::string folder = member.name.substr(0, slash);
      if (ends_with(folder, installed::kDistInfo)) {
        if (ends_with(member.name, "/RECORD")) found[folder].record = member;
        if (ends_with(member.name, "/METADATA")) found[folder].metadata = member;
      }
      if (in_zips.count(member.name) != 0) zips.push_back(member);
    }));
    for (const auto& [folder, info] : found)
      if (info.record) claim(zip, path, folder, info, claims);
    for (const Asked& each : asked)
      if (auto owner = claims.owner_of(each.member)) owners_.of[each.index] = std::move(owner);
    for (Error& error : claims.take_errors()) owners_.errors.push_back(std::move(error));
    for (const ZipMember& member : zips) {
      const std::vector<Asked> inner = std::exchange(in_zips[member.name], {});  // each is read once
      if (inner.empty()) continue;
      const auto opened = open_zip_member(zip, member, [](ByteView start) { return is_zip(start); });
      if (opened && *opened != nullptr) read(**opened, path + "(" + member.name + ")", inner, depth + 1);
    }
  }

 private:
  struct DistInfo {
    std::optional<ZipMember> record, metadata;
  };

  static void add_inner(const Asked& asked, std::map<std::string, std::vector<Asked>>& in_zips) {
    const std::string& name = asked.member;
    if (!ends_with(name, ")")) return;
    auto at = name.find('(');
    for (int i = 0; i < kBracketsMost && at != std::string::npos; ++i, at = name.find('(', at + 1))
      in_zips[name.substr(0, at)].push_back({name.substr(at + 1, name.size() - at - 2), asked.index});
  }

  void claim(const ByteSource& zip, const std::string& path, const std::string& folder, const DistInfo& info,
             Claims& claims) {
    const auto slash = folder.rfind('/');
    const std::string above = slash == std::string::npos ? "" : folder.substr(0, slash + 1);
    const auto place = [&](const ZipMember& member) { return path + "(" + member.name + ")"; };
    const auto text = [&](const ZipMember& member) {
      auto read = text_of_member(zip, member);
      if (!read) claims.add_error(Error{place(member), read.error().what, {}});
      return read ? std::move(*read) : std::string();
    };
    const Package package = installed::package_of_dist_info(
        folder.substr(above.size()), info.metadata ? text(*info.metadata) : std::string(),
        info.metadata ? place(*info.metadata) : std::string(), claims);
    installed::claim_by_record(text(*info.record), above, package, place(*info.record), claims);
  }

  Result<std::string> text_of_member(const ByteSource& zip, const ZipMember& member) {
    if (member.size > std::min(installed::kDatabaseFileMost, left_))
      return Error{{}, "is too large for a list of files: " + count_of(member.size, "byte"), {}};
    left_ -= member.size;
    ARCHGUARD_TRY(opened, open_zip_member(zip, member, [](ByteView) { return true; }));
    if (opened == nullptr) return std::string();
    ARCHGUARD_TRY(bytes, read_bytes(*opened, 0, opened->size()));
    return std::string(ByteView(bytes).text());
  }

  Owners& owners_;
  std::uint64_t left_ = installed::kDatabasesMost;
};

}  // namespace

Owners owners_of(const std::vector<std::string>& paths, const std::string& root) {
  installed::RootedPaths rooted(root);
  installed::DatabaseFiles files;
  Claims claims;
  std::vector<std::vector<std::string>> names;
  for (const std::string& path : paths) {
    names.push_back(names_of_path(path, rooted));
    for (const std::string& name : names.back()) claims.ask(name);
  }
  installed::claim_by_conda(rooted, files, claims);
  installed::claim_by_dpkg(rooted, files, claims);
  installed::claim_by_pip(rooted, files, claims);
  Owners owners;
  for (const std::vector<std::string>& each : names) {
    std::optional<Package> owner;
    for (const std::string& name : each)
      if (!owner) owner = claims.owner_of(name);
    owners.of.push_back(std::move(owner));
  }
  owners.errors = claims.take_errors();
  owners.rivals = claims.take_rivals();
  return owners;
}

Owners owners_in_zip(const ByteSource& zip, const std::string& path,
                     const std::vector<std::string>& members) {
  Owners owners;
  owners.of.resize(members.size());
  std::vector<ZipOwners::Asked> asked;
  for (std::size_t i = 0; i < members.size(); ++i) asked.push_back({members[i], i});
  ZipOwners(owners).read(zip, path, asked, 0);
  return owners;
}

}  // namespace archguard
