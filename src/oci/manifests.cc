#include "oci/manifests.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"
#include "base/text.h"

namespace archguard::oci {
namespace {

using ManifestJson = nlohmann::json;

constexpr std::size_t kIndexDepthMost = 4, kManifestsMost = 1000, kLayersMost = 10'000;
constexpr std::size_t kIdSize = 64, kShortId = 12;

bool is_id(std::string_view text) {
  return text.size() == kIdSize && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error not_as_described(const std::string& file, const std::string& what) {
  return Error{{}, "is no image that is understood: " + file + " " + what, "save it again: docker save"};
}

const ManifestJson* member_of(const ManifestJson& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? &*found : nullptr;
}

std::string string_of(const ManifestJson& json, const char* name) {
  const ManifestJson* text = member_of(json, name);
  return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

// "sha256:0123…" is the file blobs/sha256/0123….
Result<std::string> blob_of(const ManifestJson& descriptor, const std::string& in) {
  const std::string digest = string_of(descriptor, "digest");
  const auto colon = digest.find(':');
  constexpr const char* kTaken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+._-=:";
  if (colon == std::string::npos || colon == 0 || colon + 1 == digest.size() ||
      digest.find_first_not_of(kTaken) != std::string::npos)
    return not_as_described(in, "has the digest '" + printable(digest) + "'");
  return "blobs/" + digest.substr(0, colon) + "/" + digest.substr(colon + 1);
}

class IndexReading {
 public:
  // `partly`: manifests that are not there are left out.
  IndexReading(const ReadDocument& read, bool partly) : read_(read), partly_(partly) {}

  Status read(const std::string& file, std::size_t depth) {
    if (depth > kIndexDepthMost || ++read_files_ > kManifestsMost)
      return not_as_described(file, "leads to more manifests than are read");
    const auto text = read_(file);
    if (!text && partly_) return Done{};
    if (!text) return Error{{}, "lacks " + file + ", which its index names", "save it again: docker save"};
    const ManifestJson json = ManifestJson::parse(*text, nullptr, false);
    if (json.is_discarded()) return not_as_described(file, "is no JSON");
    if (const ManifestJson* manifests = member_of(json, "manifests");
        manifests != nullptr && manifests->is_array())
      return index(*manifests, file, depth);
    if (const ManifestJson* layers = member_of(json, "layers"); layers != nullptr && layers->is_array())
      return manifest(*layers, file);
    return not_as_described(file, "has neither manifests nor layers");
  }

  std::vector<ImageLayers> take() { return std::move(images_); }

 private:
  Status index(const ManifestJson& manifests, const std::string& file, std::size_t depth) {
    for (const ManifestJson& each : manifests) {
      // What was signed or told of an image; nobody runs it.
      if (const ManifestJson* notes = member_of(each, "annotations");
          notes != nullptr && string_of(*notes, "vnd.docker.reference.type") == "attestation-manifest")
        continue;
      ARCHGUARD_TRY(blob, blob_of(each, file));
      ARCHGUARD_CHECK(read(blob, depth + 1));
    }
    return Done{};
  }

  Status manifest(const ManifestJson& layers, const std::string& file) {
    ImageLayers image;
    for (const ManifestJson& layer : layers) {
      if (ends_with(string_of(layer, "mediaType"), "+encrypted"))
        return Error{{}, "has an encrypted layer, " + printable(string_of(layer, "digest")), {}};
      ARCHGUARD_TRY(blob, blob_of(layer, file));
      image.push_back(blob);
      if (image.size() > kLayersMost) return not_as_described(file, "has more layers than are read");
    }
    images_.push_back(std::move(image));
    return Done{};
  }

  const ReadDocument& read_;
  const bool partly_;
  std::size_t read_files_ = 0;
  std::vector<ImageLayers> images_;
};

Result<std::vector<ImageLayers>> images_of_docker(const std::string& text) {
  const std::string file = "manifest.json";
  const ManifestJson json = ManifestJson::parse(text, nullptr, false);
  if (!json.is_array()) return not_as_described(file, "is no list of images in JSON");
  std::vector<ImageLayers> images;
  for (const ManifestJson& each : json) {
    const ManifestJson* layers = member_of(each, "Layers");
    if (layers == nullptr || !layers->is_array())
      return not_as_described(file, "has an image without Layers");
    ImageLayers image;
    for (const ManifestJson& layer : *layers) {
      if (!layer.is_string()) return not_as_described(file, "has a layer that is no text");
      image.push_back(layer.get<std::string>());
    }
    images.push_back(std::move(image));
    if (images.back().size() > kLayersMost || images.size() > kManifestsMost)
      return not_as_described(file, "has more layers than are read");
  }
  return images;
}

}  // namespace

bool may_be_in_saved_image(const std::string& member) {
  for (const char* name : {"manifest.json", "repositories", "index.json", "oci-layout"})
    if (member == name) return true;
  const std::string_view first = std::string_view(member).substr(0, member.find('/'));
  if (first == "blobs" || is_id(first)) return true;
  const auto dot = first.find('.');
  const std::string_view ending = dot == std::string_view::npos ? std::string_view() : first.substr(dot);
  return first.size() == member.size() && is_id(first.substr(0, dot)) &&
         (ending == ".json" || ending == ".tar");
}

Result<std::vector<ImageLayers>> saved_images(const ReadDocument& read) {
  std::vector<ImageLayers> images;
  const auto manifest = read("manifest.json");
  if (manifest) {
    ARCHGUARD_TRY(told, images_of_docker(*manifest));
    images = std::move(told);
  }
  if (!read("index.json") || !read("oci-layout")) return images;
  // containerd writes one platform into manifest.json, and into the index all, also those that it left out.
  IndexReading reading(read, manifest.has_value());
  ARCHGUARD_CHECK(reading.read("index.json", 0));
  for (ImageLayers& each : reading.take())
    if (std::find(images.begin(), images.end(), each) == images.end()) images.push_back(std::move(each));
  if (images.empty()) return not_as_described("index.json", "names no image");
  return images;
}

std::string layer_name(std::size_t index, const std::string& file) {
  constexpr std::string_view kBlobs = "blobs/";
  std::string name = file;
  if (starts_with(file, kBlobs)) {
    name.erase(0, kBlobs.size());
    std::replace(name.begin(), name.end(), '/', ':');
  } else {
    name = name.substr(0, name.find_first_of("/."));
  }
  const auto colon = name.find(':');
  const std::size_t id = colon == std::string::npos ? 0 : colon + 1;
  if (name.size() - id > kShortId) name.resize(id + kShortId);
  return "layer " + std::to_string(index + 1) + " " + name;
}

}  // namespace archguard::oci
