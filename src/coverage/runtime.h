#pragma once

#include <map>
#include <optional>
#include <string>

#include "coverage/verify.h"
#include "fatbin/cuda_runtime.h"

namespace archguard {

// The CUDA runtime of a file. It fails on a driver that is too old for its toolkit, at the first call and
// before any image is looked at: error 35. A file has one where it registers fat binaries, and where it holds
// device code and calls a runtime, which may load that (cudaLibraryLoadData).
class RuntimeUse {
 public:
  // `code` was read from `file`; both outlive this.
  RuntimeUse(const DeviceCode& code, const ByteSource& file) : code_(code), file_(file) {}

  // Each fat binary of the file: the toolkit that made it is that of a runtime which is linked in.
  void add(const DeviceObject& object, const FatbinCode& fatbin);

  enum class Link {
    needed,     // a library that the linked file needs
    held,       // linked into it
    elsewhere,  // neither, so this file does not tell
    to_come,    // objects and archives are linked with one later
  };
  struct Need {
    Version toolkit;  // whose runtime it is, at least
    Link link;
    std::string library = {};   // with `needed`
    bool told_by_text = false;  // with `held`: by the runtime itself, and not by the images
  };
  // The most that one of the file's objects asks for, and more than a driver of that CUDA supports. Nothing
  // where it serves all of them, and where neither library, runtime nor image tells a toolkit. All of the
  // file's fat binaries were added.
  std::optional<Need> need_beyond(Version driver_cuda);

 private:
  // What an object tells of the runtime, as far as it was looked at.
  struct Facts {
    std::optional<Version> made_by;  // the newest toolkit of what is registered
    bool to_register = false;        // once it is linked: an object of clang's offload driver
    bool looked = false, searched = false;
    std::optional<RuntimeLibrary> library;
    std::optional<HeldRuntime> held;
  };
  const std::optional<RuntimeLibrary>& library_of(const DeviceObject& object, Facts& facts);
  const std::optional<HeldRuntime>& held_by(const DeviceObject& object, Facts& facts);
  void ask(const DeviceObject& object, Facts& facts, Version driver_cuda, std::optional<Need>& most);

  const DeviceCode& code_;
  const ByteSource& file_;
  const DeviceObject* object_ = nullptr;  // whose fat binaries come
  std::optional<Registered> registered_;  // of it
  std::map<const DeviceObject*, Facts> facts_;
};

// One of several fat binaries that hold the same, without its names.
struct KindOfFatbin {
  FatbinCode code;
  bool runs = false;  // on the device, but for its driver
};

// Adds to a device's result, whose fat binaries and embedded images are judged, what its driver makes of the
// runtime. Where error 35 is certain it comes first, and what a newer driver would mend as well is not said
// of this one. `kinds`: those fat binaries of the file that a fix has to serve as well.
void judge_runtime(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                   const std::vector<KindOfFatbin>& kinds, RuntimeUse& runtime);

// Error 35 of a stated driver that does not know the device, without its fix. The runtime compares its
// version with the driver's before it asks for devices. Nothing where there is none; where it is not certain,
// or warned of alone, that is noted in the result.
std::optional<Failure> refused_by_runtime(DeviceResult& result, const Device& stated,
                                          const VerifyPolicy& policy, RuntimeUse& runtime);

}  // namespace archguard
