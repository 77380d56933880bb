#pragma once

#include <map>
#include <string>
#include <vector>

#include "fatbin/archive_visitor.h"
#include "fatbin/contents.h"
#include "oci/layer_files.h"
#include "oci/manifests.h"

namespace archguard::fatbin {

// Where the files of a saved image are: a tar archive, or a folder (OCI Image Layout).
class SavedImageFiles {
 public:
  virtual ~SavedImageFiles() = default;
  // Calls `visit` for each file, until it says false.
  virtual Status visit(const VisitStreamMember& visit) const = 0;
};

// Hands over the files in a container image as a container has them: what a later layer deletes or replaces
// is left out. The archive is read three times, since the documents may stand at its end: for these, for the
// names in the layers, and for the files. Names of 256 MiB are kept at most.
class SavedImageVisitor {
 public:
  // Both outlive it.
  SavedImageVisitor(const SavedImageFiles& files, Contents& contents) : files_(files), in_(contents) {}

  // False where it is none: then nothing was handed over.
  bool read();

 private:
  struct Layer {
    std::string label;
    oci::LayerEntries entries;
    std::vector<bool> stays;
    bool found = false;
  };

  Status read_documents();
  void list_layers();
  void find_what_stays();
  void name_broken_links(const std::vector<const oci::LayerEntries*>& layers,
                         const std::vector<std::vector<bool>>& stays);
  void visit_layers();
  Layer* layer_of(const std::string& member);
  Spend spend() const;

  const SavedImageFiles& files_;
  Contents& in_;
  bool is_image_ = false;
  std::map<std::string, std::string> documents_;  // what may be one, by its name
  std::map<std::string, std::string> links_;      // of one layer's file to another's
  std::vector<oci::ImageLayers> images_;
  std::map<std::string, Layer> layers_;  // by their files
};

// A tar archive, packed or not. What it inflates to is bounded for each time that it is read.
class SavedImageArchive final : public SavedImageFiles {
 public:
  // Outlives it.
  explicit SavedImageArchive(const ByteSource& source) : source_(source) {}
  Status visit(const VisitStreamMember& visit) const override;

 private:
  const ByteSource& source_;
};

// An OCI Image Layout that is a folder, by its index.json.
class SavedImageFolder final : public SavedImageFiles {
 public:
  explicit SavedImageFolder(const std::string& index);
  // Of all files, with those whose sizes nobody knows as empty.
  std::uint64_t size() const;
  Status visit(const VisitStreamMember& visit) const override;

 private:
  std::string folder_;
  std::vector<std::string> names_;
};

// Is the file the index.json of an OCI Image Layout?
bool is_index_of_layout(const std::string& path);

}  // namespace archguard::fatbin
