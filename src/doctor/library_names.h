#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/version.h"

// What the names and texts of CUDA's libraries and compilers tell.
namespace archguard::doctor {

struct LibraryName {
  std::string family;        // "cudart"
  std::optional<int> major;  // of its interface: the first number behind ".so."
  std::string version;       // all numbers behind ".so.", where they are more than one
};
// "libcudart.so.12" → cudart, 12. Nothing for other libraries.
std::optional<LibraryName> library_name(std::string_view file);

// cuDNN is a library that loads others by their names: the families "cudnn_graph", "cudnn_ops", …
bool is_part_of_cudnn(std::string_view family);

// "12.8.93" → 12.8; nothing for what does not begin so.
std::optional<Version> leading_version(std::string_view text);

// Is the first version older? Number by number; what is no number ends the comparison.
bool is_older(std::string_view a, std::string_view b);

// The release of CUDA that NVIDIA's compilers and JIT libraries tell in a text of their own ("Cuda
// compilation tools, release 12.8, V12.8.93"). The file is searched and not started.
std::optional<Version> release_told_in(const std::string& path);

}  // namespace archguard::doctor
