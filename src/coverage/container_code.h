#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "image/image.h"

namespace archguard {

// One image of a container with what is inside it.
struct Image {
  Entry entry;
  std::optional<ImageCode> code;  // nothing for LTO-IR and for what could not be read
  std::string unknown;  // why this image can neither cover nor be ruled out; empty where it is understood
};

// A kernel of a container, over all its images.
struct KernelName {
  std::string name;   // mangled
  bool real = false;  // some image holds real code for it
};

// One container with its images' kernels: all that a verdict needs. The bytes of the images are not kept.
struct ContainerCode {
  Container container;
  bool linked = true;  // false in .o and .a: a relocatable container may still be linked
  std::vector<Image> images;
  std::vector<KernelName> kernels;  // the union over the images, sorted by name
  std::vector<Error> errors;        // images that could not be read
};

// Reads (and inflates) the images of one container, one after the other. `file` is the whole file that holds
// `object`.
// What all the images of a file may inflate to: far more than real ones do (libtorch_cuda: 5 times its size).
std::uint64_t most_inflated(std::uint64_t file_size);

ContainerCode read_container_code(const DeviceObject& object, const Container& container,
                                  const ByteSource& file, Inflater& inflater);

}  // namespace archguard
