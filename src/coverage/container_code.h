#pragma once

#include <memory>
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
  std::vector<KernelName> kernels;     // the union over the images, sorted by name
  std::vector<std::string> variables;  // likewise; without those of toolkit_symbols.h
  std::vector<Error> errors;           // images that could not be read
  std::vector<Error> warnings;         // what is not known of images and changes no verdict
};

// Does a program need an image of this container: for a kernel, or for a variable that it can name?
bool asks_for_image(const ContainerCode& code);

// Adds the container's warnings, each text once: where it was said first.
void add_warnings(const ContainerCode& code, std::vector<Error>& warnings);

// Reads (and inflates) the images of a file on all cores, and hands its containers over one after the other.
// No more is in memory at once than twice what the largest image needs, and a few images' kernels.
class ContainerCodes {
 public:
  // `code` was read from `file`; both outlive this.
  ContainerCodes(const DeviceCode& code, const ByteSource& file);
  ~ContainerCodes();

  // The next container, in the order of `code.objects` and their containers (fatbin/container_cursor.h): an
  // error alone where those that were packed cannot be read back.
  ContainerCode next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace archguard
