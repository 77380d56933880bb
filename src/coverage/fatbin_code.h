#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "image/image.h"

namespace archguard {

// One image of a fat binary with what is inside it.
struct Image {
  FatbinEntry entry;
  std::optional<ImageKernels> code;  // nothing for LTO-IR and for what could not be read
  std::string unknown;  // why this image can neither cover nor be ruled out; empty where it is understood
};

// A kernel of a fat binary, over all its images.
struct KernelName {
  std::string name;   // mangled
  bool real = false;  // some image holds real code for it
};

// One fat binary with its images' kernels: all that a verdict needs. The bytes of the images are not kept.
struct FatbinCode {
  Fatbin fatbin;
  bool linked = true;  // false in .o and .a: a relocatable fat binary may still be linked
  std::vector<Image> images;
  std::vector<KernelName> kernels;     // the union over the images, sorted by name
  std::vector<std::string> variables;  // likewise; without those of toolkit_symbols.h
  std::vector<Error> errors;           // images that could not be read
  std::vector<Error> warnings;         // what is to be known of images and changes no verdict
  // Of what a device link made: the objects that it joined, those with the same images once, where one of
  // them holds LTO-IR.
  std::vector<Fatbin> lto_parts;
};

// Does a program need an image of this fat binary: for a kernel, or for a variable that it can name? What
// cannot be read (Image::unknown) may hold either.
bool asks_for_image(const FatbinCode& code);

// Did clang make it for a library that hands it to the driver, libomptarget or SYCL's, and not for the CUDA
// runtime?
bool is_for_offload_library(const FatbinCode& code);

// Adds the fat binary's warnings, each text once: where it was said first.
void add_warnings(const FatbinCode& code, std::vector<Error>& warnings);

// Reads (and inflates) the images of a file on all cores, and hands its fat binaries over one after the
// other. No more is in memory at once than twice what the largest image needs, and a few images' kernels.
class FatbinCodeReader {
 public:
  // `code` was read from `file`; both outlive this.
  FatbinCodeReader(const DeviceCode& code, const ByteSource& file);
  ~FatbinCodeReader();

  // The next fat binary, in the order of `code.objects` and their fat binaries (fatbin/fatbin_cursor.h): an
  // error alone where those that were packed cannot be read back.
  FatbinCode next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace archguard
