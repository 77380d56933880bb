#pragma once

#include <string_view>

#include "byte_writer.h"

namespace archguard::test {

// What clang's offload driver leaves in .llvm.offloading: one piece an image.
class OffloadBuilder {
 public:
  enum Kind : unsigned { object = 1, bitcode = 2, cubin = 3, fatbinary = 4, ptx = 5 };
  OffloadBuilder& made_for(unsigned producer) {  // 1 OpenMP, 2 CUDA, 8 SYCL: of the images from here on
    producer_ = producer;
    return *this;
  }
  OffloadBuilder& image(Kind kind, std::string_view arch, const Bytes& bytes,
                        std::string_view triple = "nvptx64-nvidia-cuda");
  Bytes bytes() const { return all_.bytes(); }

 private:
  ByteWriter all_;
  unsigned producer_ = 1;
};

}  // namespace archguard::test
