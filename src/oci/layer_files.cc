#include "oci/layer_files.h"

#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/text.h"

namespace archguard::oci {
namespace {

constexpr std::string_view kWhiteout = ".wh.", kAboutWhiteouts = ".wh..wh.", kOpaque = ".wh..wh..opq";

// From the image's top, without "." and ".."; nothing for one that leads out of it.
std::optional<std::string> path_in_image(std::string_view name) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string path;
  for (const std::string_view part : parts) path += (path.empty() ? "" : "/") + std::string(part);
  return path;
}

struct PathParts {
  std::string folder, base;
};

PathParts layer_parts(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// The symbolic links of a layer, which whoever unpacks it follows.
class FolderLinks {
 public:
  explicit FolderLinks(const LayerEntries& layer) {
    for (const LayerEntry& entry : layer)
      if (entry.kind == LayerEntry::Kind::other && !entry.target.empty())
        if (const auto path = path_in_image(entry.name)) paths_.insert(*path);
  }

  // Does the path lead through one?
  bool lie_on(const std::string& path) const {
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash != 0;
         slash = path.rfind('/', slash - 1))
      if (paths_.count(path.substr(0, slash)) != 0) return true;
    return false;
  }

 private:
  std::unordered_set<std::string> paths_;
};

// What the layers above hide of those below.
class Above {
 public:
  // `links`: of the layer that has the path.
  bool hides(const std::string& path, const FolderLinks& links) const {
    if (links.lie_on(path)) return false;
    if (replaced_.count(path) != 0 || gone_.count(path) != 0) return true;
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash != 0;
         slash = path.rfind('/', slash - 1))
      if (gone_.count(path.substr(0, slash)) != 0 || opaque_.count(path.substr(0, slash)) != 0) return true;
    return opaque_.count("") != 0;
  }

  void add(const LayerEntries& entries) {
    for (const LayerEntry& entry : entries) {
      const auto path = path_in_image(entry.name);
      if (!path || path->empty()) continue;
      const PathParts place = layer_parts(*path);
      if (place.base == kOpaque)
        opaque_.insert(place.folder);
      else if (starts_with(place.base, kAboutWhiteouts))
        continue;
      else if (starts_with(place.base, kWhiteout))
        add_whiteout(place);
      else
        (entry.kind == LayerEntry::Kind::folder ? replaced_ : gone_).insert(*path);
    }
  }

 private:
  void add_whiteout(const PathParts& place) {
    const std::string base = place.base.substr(kWhiteout.size());
    if (base.empty() || base == "." || base == "..") return;
    gone_.insert(place.folder.empty() ? base : place.folder + "/" + base);
  }

  std::unordered_set<std::string> replaced_;  // by a folder: what a folder of the same name has stays
  std::unordered_set<std::string> gone_;      // with all below
  std::unordered_set<std::string> opaque_;    // folders, whose own entry stays
};

bool is_whiteout(const std::string& path) {
  return starts_with(layer_parts(path).base, kWhiteout);
}

// Adds entries whose bytes a hard link that stays leads to, in its own layer or one below. Was any added?
bool add_linked(const std::vector<const LayerEntries*>& layers, std::vector<std::vector<bool>>& stays) {
  std::unordered_set<std::string> targets;
  bool any = false;
  for (std::size_t i = layers.size(); i-- > 0;) {
    const LayerEntries& entries = *layers[i];
    for (std::size_t j = 0; j < entries.size(); ++j)
      if (stays[i][j] && entries[j].kind == LayerEntry::Kind::hard_link)
        if (const auto path = path_in_image(entries[j].target)) targets.insert(*path);
    for (std::size_t j = 0; j < entries.size() && !targets.empty(); ++j) {
      const auto path = stays[i][j] ? std::nullopt : path_in_image(entries[j].name);
      if (!path || targets.count(*path) == 0) continue;
      stays[i][j] = true;
      any = true;
    }
  }
  return any;
}

}  // namespace

std::vector<std::vector<bool>> entries_that_stay(const std::vector<const LayerEntries*>& layers) {
  std::vector<std::vector<bool>> stays(layers.size());
  Above above;
  for (std::size_t i = layers.size(); i-- > 0;) {
    const FolderLinks links(*layers[i]);
    for (const LayerEntry& entry : *layers[i]) {
      const auto path = path_in_image(entry.name);
      stays[i].push_back(!path || (!is_whiteout(*path) && !above.hides(*path, links)));
      if (entry.kind != LayerEntry::Kind::hard_link) continue;
      if (const auto target = path_in_image(entry.target); target && links.lie_on(*target)) return {};
    }
    above.add(*layers[i]);
  }
  constexpr int kChainMost = 40;  // of hard links to hard links
  int links = 0;
  while (add_linked(layers, stays))
    if (++links == kChainMost) return {};
  return stays;
}

}  // namespace archguard::oci
