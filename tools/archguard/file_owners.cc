#include "file_owners.h"

#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "installed/owners.h"

namespace archguard {
namespace {

class FileOwners {
 public:
  FileOwners(Verification& verification, const std::string& sysroot)
      : all_(verification), sysroot_(sysroot) {}

  void find() {
    std::vector<std::size_t> on_disk;
    std::map<std::string, std::vector<std::size_t>> in_zips;
    for (std::size_t i = 0; i < all_.files.size(); ++i) {
      if (outcome_of(all_, all_.files[i]) == Outcome::no_device_code) continue;
      if (all_.files[i].member.empty())
        on_disk.push_back(i);
      else
        in_zips[all_.files[i].path].push_back(i);
    }
    for (const auto& [zip, files] : in_zips) {
      find_in_zip(zip, files);
      for (const std::size_t file : files)
        if (!all_.files[file].package) on_disk.push_back(file);
    }
    if (!sysroot_.empty()) find_on_disk(on_disk, sysroot_);
    find_on_disk(on_disk, {});
  }

 private:
  void find_in_zip(const std::string& path, const std::vector<std::size_t>& files) {
    const auto source = FileSource::open(path);
    if (!source) return;  // it was told where it was judged
    std::vector<std::string> members;
    for (const std::size_t file : files) members.push_back(all_.files[file].member);
    take(owners_in_zip(*source, path, members), files);
  }

  // Those that nobody is known to own.
  void find_on_disk(const std::vector<std::size_t>& files, const std::string& root) {
    std::vector<std::string> paths;
    std::vector<std::size_t> asked;
    for (const std::size_t file : files) {
      if (all_.files[file].package) continue;
      paths.push_back(all_.files[file].path);
      asked.push_back(file);
    }
    if (!paths.empty()) take(owners_of(paths, root), asked);
  }

  void take(Owners owners, const std::vector<std::size_t>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) all_.files[files[i]].package = std::move(owners.of[i]);
    std::move(owners.errors.begin(), owners.errors.end(), std::back_inserter(all_.owner_errors));
  }

  Verification& all_;
  const std::string& sysroot_;
};

}  // namespace

void find_owners(Verification& verification, const std::string& sysroot) {
  FileOwners(verification, sysroot).find();
}

}  // namespace archguard
