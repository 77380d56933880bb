#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace archguard {

// What stands in a folder, a zip file or behind a program, was not read, and may hold device code; and what
// was named and holds nothing.
enum class UnreadKind {
  packed,        // an archive, a compressed file, an image of a disk
  image_layer,   // of a container image (OCI image layout), whose folder was not named itself
  folder_link,   // leads to a folder that is no part of what was walked
  broken_link,   // leads to nothing, and is named like a binary
  pointer,       // what git-lfs or git-annex keeps in the place of a file
  bitcode,       // an object of LLVM's bitcode
  gl,            // an object of MSVC's /GL
  tile_ir,       // bytecode of CUDA Tile, which drivers compile
  ltoir,         // LTO-IR alone, which a program links when it runs
  no_object,     // named like an object or a static library, and too short to be one: a copy that stopped
  lost_archive,  // named like an archive, and none that is known, or empty
  no_file,       // a folder or a list beside others, and no file in it
};

struct Unread {
  std::string path;  // as messages name it
  UnreadKind kind = UnreadKind::packed;
};

using PassedOver = std::vector<Unread>;

// May any of it hold device code? What holds no file does not.
inline bool may_hide_code(const PassedOver& passed_over) {
  return std::any_of(passed_over.begin(), passed_over.end(),
                     [](const Unread& each) { return each.kind != UnreadKind::no_file; });
}

inline std::vector<std::string> paths_of(const PassedOver& passed_over) {
  std::vector<std::string> paths;
  for (const Unread& each : passed_over) paths.push_back(each.path);
  return paths;
}

}  // namespace archguard
