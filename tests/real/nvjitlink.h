#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/version.h"
#include "compat/arch.h"
#include "support/factory/shared_library.h"

namespace archguard {

// nvJitLink of one CUDA release: the compiler that a driver of that release runs on PTX.
class NvJitLink {
 public:
  static Result<NvJitLink> open(const std::string& library, Version release);

  // Compiles PTX for a GPU and links it, or says why nvJitLink would not.
  Status link(const std::string& ptx, Arch gpu) const;

  // Links the image that nvJitLink chooses of a fat binary: the linked cubin.
  Result<Bytes> link_fatbin(const Bytes& fatbin, Arch gpu) const;

 private:
  // As nvJitLink.h declares them; results are enumerations, 0 is success.
  struct Functions {
    int (*create)(void** handle, unsigned count, const char** options);
    int (*destroy)(void** handle);
    int (*add)(void* handle, int kind, const void* data, std::size_t size, const char* name);
    int (*complete)(void* handle);
    int (*log_size)(void* handle, std::size_t* size);
    int (*log)(void* handle, char* text);
    int (*cubin_size)(void* handle, std::size_t* size);
    int (*cubin)(void* handle, void* bytes);
  };
  explicit NvJitLink(const Functions& functions) : functions_(functions) {}
  Result<Bytes> link(int kind, const void* data, std::size_t size, Arch gpu) const;

  Functions functions_;
};

}  // namespace archguard
