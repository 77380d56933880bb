#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace archguard::oci {

// The layers of a container image, the lowest first: the files that they are, as `docker save` or an OCI
// layout names them ("blobs/sha256/…").
using ImageLayers = std::vector<std::string>;

// May a tar archive with such a member be an image that was saved? Others hold nothing else.
bool may_be_in_saved_image(const std::string& member);

// The text of a document, nothing where there is none of that name.
using ReadDocument = std::function<std::optional<std::string>(const std::string& name)>;

// The images that manifest.json tells of (`docker save`), and index.json with the manifests that it leads to
// (OCI Image Layout). Nothing where there is neither: then it is no saved image.
Result<std::vector<ImageLayers>> saved_images(const ReadDocument& read);

// How a layer is called in messages: "layer 2 sha256:0123456789ab".
std::string layer_name(std::size_t index, const std::string& file);

}  // namespace archguard::oci
