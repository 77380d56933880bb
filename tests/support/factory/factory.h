#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace archguard::factory {

// Fixtures that NVIDIA's own libraries make: NVRTC compiles, nvFatbin packs. Nothing here shares code with
// src/fatbin, and nothing needs a GPU.

enum class Kind { sass, ptx, ltoir };

// One image to make. `arch` is spelled as after sm_ or compute_: "80", "90a", "100f".
struct Part {
  Kind kind = Kind::sass;
  std::string arch;
};

struct Image {
  Part part;
  Bytes bytes;
};

// nvFatbin's -compress-mode. `all` adds -compress-all: nvFatbin leaves plain SASS and small images raw
// otherwise.
struct Packing {
  std::string mode = "default";  // none, default, speed, balance, size
  bool all = false;
  std::vector<std::string> options;  // more options of nvFatbinCreate: "-cuda", "-host=windows"
};

class Factory {
 public:
  // `cache` is the folder of tests/support/fetch (nvrtc-13.0, nvfatbin-13.0); the toolkit at `toolkit` serves
  // where it has the library. The error says which library is missing and how to get it.
  static Result<Factory> open(const std::string& cache, const std::string& toolkit);

  // Compiles CUDA C++; `options` go to NVRTC as they are ("-rdc=true", "-G"). The error holds the compiler's
  // log.
  Result<Image> compile(const std::string& source, const Part& part,
                        const std::vector<std::string>& options = {}) const;

  // A fat binary of the images, in their order.
  Result<Bytes> pack(const std::vector<Image>& images, const Packing& packing = {}) const;

  // compile() for each part, then pack().
  Result<Bytes> fatbin(const std::string& source, const std::vector<Part>& parts,
                       const Packing& packing = {}) const;

 private:
  // The C interfaces, as nvrtc.h and nvFatbin.h of CUDA 13.0 declare them. Results are enumerations, 0 is
  // success.
  struct Nvrtc {
    int (*create)(void** program, const char* source, const char* name, int headers,
                  const char* const* sources, const char* const* names);
    int (*destroy)(void** program);
    int (*compile)(void* program, int count, const char* const* options);
    int (*log_size)(void* program, std::size_t* size);
    int (*log)(void* program, char* text);
    int (*cubin_size)(void* program, std::size_t* size);
    int (*cubin)(void* program, char* bytes);
    int (*ptx_size)(void* program, std::size_t* size);
    int (*ptx)(void* program, char* text);
    int (*ltoir_size)(void* program, std::size_t* size);
    int (*ltoir)(void* program, char* bytes);
    const char* (*error)(int result);
  };
  struct NvFatbin {
    int (*create)(void** handle, const char** options, std::size_t count);
    int (*destroy)(void** handle);
    int (*add_ptx)(void* handle, const char* code, std::size_t size, const char* arch, const char* identifier,
                   const char* options);
    int (*add_cubin)(void* handle, const void* code, std::size_t size, const char* arch,
                     const char* identifier);
    int (*add_ltoir)(void* handle, const void* code, std::size_t size, const char* arch,
                     const char* identifier, const char* options);
    int (*size)(void* handle, std::size_t* size);
    int (*get)(void* handle, void* buffer);
    const char* (*error)(int result);
  };

  Factory(const Nvrtc& nvrtc, const NvFatbin& nvfatbin) : nvrtc_(nvrtc), nvfatbin_(nvfatbin) {}
  Status add(void* handle, const Image& image) const;

  Nvrtc nvrtc_;
  NvFatbin nvfatbin_;
};

}  // namespace archguard::factory
