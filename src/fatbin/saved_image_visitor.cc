#include "fatbin/saved_image_visitor.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "fatbin/zip_links.h"
#include "host/host_file.h"

namespace archguard::fatbin {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kDocumentMost = std::uint64_t{4} << 20, kDocumentsMost = std::uint64_t{64} << 20;
constexpr std::uint64_t kLayerNamesMost = std::uint64_t{256} << 20;
constexpr int kLayerLinksMost = 8;

Result<std::string> document_text(PeekedStream& bytes, std::uint64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    ARCHGUARD_TRY(count, bytes.next(reinterpret_cast<std::uint8_t*>(text.data()) + at, text.size() - at));
    if (count == 0) break;
    at += count;
  }
  text.resize(at);
  return text;
}

// "a/../b/layer.tar" is "b/layer.tar"; a name that leads out stays what it is, and is no file's.
std::string name_in_archive(const std::string& name) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && parts.empty()) return name;
    if (part == "..")
      parts.pop_back();
    else
      parts.push_back(part);
  }
  std::string plain;
  for (const std::string_view part : parts) plain += (plain.empty() ? "" : "/") + std::string(part);
  return plain;
}

oci::LayerEntry layer_entry(const StreamMember& member) {
  oci::LayerEntry entry;
  entry.name = member.name;
  if (member.kind == StreamMember::Kind::file)
    entry.kind = oci::LayerEntry::Kind::file;
  else if (member.kind == StreamMember::Kind::link)
    entry.kind = oci::LayerEntry::Kind::other;
  else if (!member.target.empty())
    entry.kind = oci::LayerEntry::Kind::hard_link;
  else
    entry.kind = member.folder ? oci::LayerEntry::Kind::folder : oci::LayerEntry::Kind::other;
  entry.target = member.target;
  return entry;
}

}  // namespace

Status SavedImageArchive::visit(const VisitStreamMember& visit) const {
  SourceStream stream(source_);
  std::uint64_t left = most_inflated_of_archive(source_.size());
  const Spend spend = [&](std::uint64_t bytes) -> Status {
    if (bytes > left)
      return Error{{}, "is not read whole: it inflates to too much", "unpack it and name the folder"};
    left -= bytes;
    return Done{};
  };
  const auto found = visit_archive_stream(stream, spend, visit);
  if (!found) return found.error();
  return Done{};
}

bool is_index_of_layout(const std::string& path) {
  constexpr std::string_view kIndex = "index.json";
  std::error_code error;
  if (path != kIndex && !ends_with(path, "/index.json")) return false;
  return fs::is_regular_file(path.substr(0, path.size() - kIndex.size()) + "oci-layout", error);
}

SavedImageFolder::SavedImageFolder(const std::string& index)
    : folder_(index.substr(0, index.size() - std::string_view("index.json").size())),
      names_{"index.json", "oci-layout"} {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder_ + "blobs", error), end; !error && at != end;
       at.increment(error))
    if (std::error_code unknown; at->is_regular_file(unknown))
      names_.push_back(at->path().string().substr(folder_.size()));
  std::sort(names_.begin(), names_.end());
}

std::uint64_t SavedImageFolder::size() const {
  std::uint64_t sum = 0;
  for (const std::string& name : names_) {
    std::error_code error;
    const auto size = fs::file_size(folder_ + name, error);
    if (!error) sum += size;
  }
  return sum;
}

Status SavedImageFolder::visit(const VisitStreamMember& visit) const {
  for (const std::string& name : names_) {
    const auto source = FileSource::open(folder_ + name);
    if (!source) return source.error();
    StreamMember member;
    member.name = name;
    member.kind = StreamMember::Kind::file;
    member.size = source->size();
    SourceStream bytes(*source);
    if (!visit(member, bytes)) break;
  }
  return Done{};
}

bool SavedImageVisitor::read() {
  is_image_ = true;
  const Status read = read_documents();
  if (!is_image_) return false;
  const oci::ReadDocument document = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = documents_.find(name);
    if (found == documents_.end()) return std::nullopt;
    return found->second;
  };
  auto images = oci::saved_images(document);
  if (images && images->empty() && read) return false;
  if (!read) in_.add_error({}, read.error());
  if (!images) {
    in_.add_error({}, images.error());
    return true;
  }
  images_ = std::move(*images);
  for (oci::ImageLayers& image : images_)
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = name_in_archive(image[i]);
      for (int links = 0; links < kLayerLinksMost && links_.count(image[i]) != 0; ++links)
        image[i] = links_[image[i]];
      Layer& layer = layers_[image[i]];
      if (layer.label.empty()) layer.label = oci::layer_name(i, image[i]);
    }
  documents_.clear();
  list_layers();
  find_what_stays();
  visit_layers();
  return true;
}

Status SavedImageVisitor::read_documents() {
  std::uint64_t size = 0;
  std::optional<Error> wrong;
  const Status visited = files_.visit([&](const StreamMember& member, ByteStream& bytes) {
    is_image_ = oci::may_be_in_saved_image(member.name);
    if (!is_image_) return false;
    const std::string name = name_in_archive(member.name);
    if (member.kind == StreamMember::Kind::link)
      links_[name] = name_in_archive(name.substr(0, name.rfind('/') + 1) + member.target);
    else if (!member.target.empty())
      links_[name] = name_in_archive(member.target);
    if (member.kind != StreamMember::Kind::file || member.size > kDocumentMost) return true;
    PeekedStream peeked(bytes);
    const auto start = peeked.start();
    if (!start || start->size == 0) return true;
    const auto first = start->text().find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (start->text()[first] != '{' && start->text()[first] != '['))
      return true;
    size += member.size;
    if (size > kDocumentsMost) {
      wrong = Error{{}, "has more than " + count_of(kDocumentsMost, "byte") + " of documents", {}};
      return false;
    }
    auto text = document_text(peeked, member.size);
    if (text && !documents_.emplace(name, std::move(*text)).second) {
      wrong = Error{{}, "has " + name + " twice", "save it again: docker save"};
      return false;
    }
    return true;
  });
  if (wrong) return *wrong;
  return visited ? Status(Done{}) : Status(visited.error());
}

SavedImageVisitor::Layer* SavedImageVisitor::layer_of(const std::string& member) {
  const auto layer = layers_.find(name_in_archive(member));
  return layer == layers_.end() ? nullptr : &layer->second;
}

Spend SavedImageVisitor::spend() const {
  const auto left = std::make_shared<std::uint64_t>(in_.inflated_most);
  return [left](std::uint64_t bytes) -> Status {
    if (bytes > *left)
      return Error{{}, "is not read whole: it inflates to too much", "unpack it and name the folder"};
    *left -= bytes;
    return Done{};
  };
}

// What is wrong with a layer is told where its files are visited.
void SavedImageVisitor::list_layers() {
  std::uint64_t names = 0;
  const Spend most = spend();
  const auto list = [&](Layer& layer, ByteStream& bytes) {
    static_cast<void>(visit_archive_stream(bytes, most, [&](const StreamMember& member, ByteStream&) {
      names += member.name.size() + member.target.size() + sizeof(oci::LayerEntry);
      if (names > kLayerNamesMost) return false;
      layer.entries.push_back(layer_entry(member));
      return true;
    }));
  };
  static_cast<void>(files_.visit([&](const StreamMember& member, ByteStream& bytes) {
    Layer* layer = member.kind == StreamMember::Kind::file ? layer_of(member.name) : nullptr;
    if (layer == nullptr) return true;
    if (!std::exchange(layer->found, true))
      list(*layer, bytes);
    else  // readers do not agree which one counts
      in_.add_error(layer->label, {{}, "stands twice in the image", "save it again: docker save"});
    return true;
  }));
  if (names > kLayerNamesMost)
    in_.add_error({},
                  {{}, "has layers with more names of files than are read", "unpack it and name the folder"});
  for (const auto& [file, layer] : layers_)
    if (!layer.found)
      in_.add_error(layer.label, {{}, "is not there: the image lacks " + file, "save it again: docker save"});
}

// A layer may be in several images: its files are those of all.
void SavedImageVisitor::find_what_stays() {
  for (const oci::ImageLayers& image : images_) {
    std::vector<const oci::LayerEntries*> entries;
    for (const std::string& file : image) entries.push_back(&layers_[file].entries);
    const auto stays = oci::entries_that_stay(entries);
    for (std::size_t i = 0; i < image.size(); ++i) {
      Layer& layer = layers_[image[i]];
      layer.stays.resize(layer.entries.size());
      for (std::size_t j = 0; j < layer.stays.size(); ++j)
        layer.stays[j] = layer.stays[j] || stays.empty() || stays[i][j];
    }
    name_broken_links(entries, stays);
  }
  for (auto& each : layers_) each.second.entries = {};
}

// A link that is named like a binary, and whose file no layer brings.
void SavedImageVisitor::name_broken_links(const std::vector<const oci::LayerEntries*>& layers,
                                          const std::vector<std::vector<bool>>& stays) {
  ZipLinks links;
  const auto visit = [&](const std::function<void(const oci::LayerEntry&)>& visit_entry) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      for (std::size_t j = 0; j < layers[i]->size(); ++j)
        if (stays.empty() || stays[i][j]) visit_entry((*layers[i])[j]);
  };
  visit([&](const oci::LayerEntry& entry) {
    if (entry.target.empty()) return;
    const bool from_top = entry.kind == oci::LayerEntry::Kind::hard_link || starts_with(entry.target, "/");
    links.add(entry.name, from_top ? target_from_top(entry.name, entry.target) : entry.target);
  });
  const auto broken = links.broken([&](const VisitName& name) -> Status {
    visit([&](const oci::LayerEntry& entry) {
      if (entry.kind == oci::LayerEntry::Kind::file) name(entry.name);
    });
    return Done{};
  });
  if (!broken) return in_.add_error({}, broken.error());
  for (const std::string& name : *broken) in_.pass_over(name, UnreadKind::broken_link);
}

void SavedImageVisitor::visit_layers() {
  for (auto& each : layers_) each.second.found = false;
  const Status status = files_.visit([&](const StreamMember& member, ByteStream& bytes) {
    Layer* layer = member.kind == StreamMember::Kind::file ? layer_of(member.name) : nullptr;
    if (layer == nullptr || std::exchange(layer->found, true)) return true;
    std::size_t next = 0;
    const auto stays = [&](const StreamMember&) {
      const std::size_t at = next++;
      return at >= layer->stays.size() || layer->stays[at];
    };
    ArchiveVisitor(in_).read_layer(bytes, layer->label, stays);
    return true;
  });
  if (!status && in_.rest.errors.empty()) in_.add_error({}, status.error());
}

}  // namespace archguard::fatbin
