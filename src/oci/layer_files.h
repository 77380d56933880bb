#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace archguard::oci {

// What a layer's archive has, in its order.
struct LayerEntry {
  enum class Kind { file, folder, hard_link, other };  // other: a symbolic link, a device
  std::string name;
  Kind kind = Kind::file;
  std::string target;  // of a hard link, and of a symbolic one, which is of the kind `other`
};
using LayerEntries = std::vector<LayerEntry>;

// Which entries of the layers, the lowest first, are there once all are laid over each other (OCI Image Layer
// Filesystem Changeset): a later layer replaces what has the same path, `.wh.x` deletes x of the layers
// below,
// `.wh..wh..opq` all that these have in its folder. Bytes that another name still leads to are there. In
// doubt an entry is: a name that leads out of the image deletes nothing and is not deleted, nor is what was
// written through a link to a folder, which stands elsewhere.
std::vector<std::vector<bool>> entries_that_stay(const std::vector<const LayerEntries*>& layers);

}  // namespace archguard::oci
