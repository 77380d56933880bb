#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/version.h"
#include "compat/arch.h"

namespace archguard {

// real: does something. empty: returns at once. trap: straight-line code that ends in a trap. unknown: could
// not be told.
enum class KernelState { real, empty, trap, prints, unknown };

// Does it nothing but end, say something or trap?
constexpr bool is_hollow(KernelState state) {
  return state == KernelState::empty || state == KernelState::trap || state == KernelState::prints;
}

struct Kernel {
  std::string name;  // mangled
  KernelState state = KernelState::unknown;
  std::uint64_t code_size = 0;  // bytes of machine code (the symbol's size); 0 for PTX
  // Bytes of the inflated image that are there for this kernel alone: its code and the sections that belong
  // to it, or its text in PTX. Those of all kernels are no more than the image has.
  std::uint64_t own_size = 0;
};

// What its declaration says: __device__, __constant__ or __managed__; or a texture or surface reference
// (texture<>, surface<>, until CUDA 11), which has no bytes.
enum class VariableSpace { device, constant, managed, reference };

// A variable at module scope that host code can name: cudaMemcpyToSymbol, cuModuleGetGlobal. What a compiler
// makes for itself is none (symbol_name.h).
struct DeviceVariable {
  std::string name;  // mangled
  VariableSpace space = VariableSpace::device;
  std::uint64_t size = 0;  // bytes
};

// Static shared memory of a kernel or function of an image for linking, in bytes.
struct SharedUse {
  std::string name;
  bool kernel = false;
  std::uint64_t own = 0;    // that it names itself
  std::uint64_t least = 0;  // with the functions of the image that it calls, as compilers count at least
  std::uint64_t most = 0;   // that it declares itself, and names at module scope where no function does
  std::vector<std::string> calls;  // functions of other images that it reaches
  bool sure = false;               // these are its calls, not those of the whole image
  bool through_pointers = false;
};

// What an image that is made for linking (nvcc -rdc=true) gives to others and wants of them. The device
// runtime is libcudadevrt, which device code calls that launches kernels.
struct LinkNames {
  bool defines = false;        // functions or variables that another image can use
  bool is_runtime = false;     // it is the device runtime itself
  bool wants_runtime = false;  // it uses functions of the device runtime
  std::vector<std::string> defined, wanted;
  // Of `wanted`: what variables and kernels need, and what functions that others may call need, behind the
  // name of that. Linkers leave out functions that no kernel reaches.
  std::vector<std::string> surely;
  std::vector<std::pair<std::string, std::string>> through;
  bool tells_needs = true;                // false: anything may need what is wanted
  std::vector<std::string> once;          // of `defined`, what no other image may define, too
  std::uint64_t shared_of_functions = 0;  // bytes of static shared memory that functions name, not kernels
  std::shared_ptr<const std::vector<SharedUse>> shared;  // of its kernels and functions; nothing without any
  bool whole = true;                                     // false: those two lack some
};

// Releases of CUDA: from the first on, and before the second.
struct CudaRange {
  Version from, before;

  bool has(Version version) const { return from <= version && version < before; }
};

// What compilers refuse in PTX for the target that it names, and what mends it.
struct PtxRefusal {
  std::string reason, mend;           // without the driver that takes it
  std::optional<Version> taken_from;  // those of this CUDA and newer take it; nothing where none does
  bool in_doubt = false;              // some may take it, and which is not known
  // By the compilers of these, and what comes of it is not known. In doubt as well: others refuse it for
  // sure.
  std::optional<CudaRange> not_refused = {};
};

// Does no compiler take it?
inline bool is_sure(const std::optional<PtxRefusal>& refusal) {
  return refusal && !refusal->taken_from && !refusal->in_doubt;
}

// Of two, the first that is sure, else the first.
inline void take_graver(std::optional<PtxRefusal>& refusal, std::optional<PtxRefusal> other) {
  if (!refusal || (is_sure(other) && !is_sure(refusal))) refusal = std::move(other);
}

// One that drivers bring along for device code, from that CUDA on (image/builtin_functions.h).
struct DriverFunction {
  std::string name;
  Version since;
};

struct ImageKernels {
  std::vector<Kernel> kernels;            // sorted by name
  std::vector<DeviceVariable> variables;  // sorted by name
  bool functions = false;                 // of a cubin: it defines functions that are no kernels
  bool relocatable = false;               // an ET_REL cubin, or PTX for linking: no coverage by itself
  LinkNames names;                        // of PTX, and of a relocatable cubin
  std::string unresolved;              // of PTX for linking: what it declares `.extern` and the driver lacks
  bool lacks_variables_alone = false;  // and no function
  std::optional<Version> toolkit;      // that made it, where the image tells
  int cubin_abi = 0;                   // of a cubin: 7 or 8 (image/cubin.h)
  std::optional<DriverFunction> newest_call;  // of PTX, and of a cubin that is loaded as it is
  std::uint64_t parameters = 0;               // bytes of the kernel that takes the most; of PTX and cubins
  // What the image itself says it is for: 90a of `.target sm_90a`. Several where a cubin does not tell its
  // suffix (archs_of() in image/cubin.h); none where PTX names no known target.
  std::vector<Arch> archs;
  std::optional<Version> ptx_isa;     // of PTX: its `.version`
  std::optional<PtxRefusal> refused;  // of PTX; nothing where nothing is known (ptx_limits.h)
  bool by_gcc = false;                // PTX of GCC's OpenMP or OpenACC, which libgomp links when it loads it
  bool is32 = false;                  // PTX with addresses of 32 bits, an ELF file of 32 bits
  // PTX with a function that returns several results in registers: compilers then do without an ABI
  // ("multiple return values found, disabling ABI"), take small numbers in its calls, and compile nothing of
  // it for a linker.
  bool without_abi = false;
  std::vector<Error> warnings;  // what is to be known of it and changes no verdict; without a place
};

// For readers of images: a global name that the image defines, or wants of another.
void add_defined(LinkNames& names, std::string_view name, bool once);
// Is it how functions of libcudadevrt are called?
bool is_of_device_runtime(std::string_view name);
// `surely`: a variable, or a function that a kernel calls.
void add_wanted(LinkNames& names, std::string_view name, bool surely);

// An error where the image is damaged or of a generation that is not known: never fewer kernels than it
// holds.
Result<ImageKernels> read_cubin(ByteView cubin);
Result<ImageKernels> read_ptx(ByteView bytes);

}  // namespace archguard
