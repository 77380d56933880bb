#pragma once

#include <map>
#include <optional>
#include <string>

#include "coverage/verify.h"
#include "fatbin/cuda_runtime.h"

namespace archguard {

// The CUDA runtime of a file. It fails on a driver that is too old for its toolkit, at the first call and
// before any image is looked at: error 35.
class RuntimeUse {
 public:
  // `code` was read from `file`; both outlive this.
  RuntimeUse(const DeviceCode& code, const ByteSource& file) : code_(code), file_(file) {}

  // Each container of the file: the toolkit that made it is that of a runtime which is linked in.
  void add(const DeviceObject& object, const ContainerCode& container);

  enum class Link {
    needed,     // a library that the linked file needs
    held,       // linked into it
    elsewhere,  // neither, so this file does not tell
    to_come,    // objects and archives are linked with one later
  };
  struct Need {
    Version toolkit;      // whose runtime it is, at least
    Link link;            // `held` may still turn out to be `elsewhere`: see link()
    std::string library;  // with `needed`
    const DeviceObject* object;
  };
  // The most that one of the file's objects asks for. Nothing where none registers anything, and where
  // neither library nor image tells a toolkit.
  const std::optional<Need>& need();
  // Where it is. Reads more of the file than need() does: ask where it matters. need() has a value.
  Link link();

 private:
  const DeviceCode& code_;
  const ByteSource& file_;
  const DeviceObject* object_ = nullptr;             // whose containers come
  std::optional<Registered> registered_;             // of it
  std::map<const DeviceObject*, Version> toolkits_;  // of objects that register, the newest of their images
  bool looked_ = false, searched_ = false;
  std::optional<Need> need_;
};

// One of several containers that hold the same, without its names.
struct KindOfContainer {
  ContainerCode code;
  bool runs = false;  // on the device, but for its driver
};

// Adds to a device's result, whose containers are judged, what its driver makes of the runtime. Where error
// 35 is certain it comes first, and what a newer driver would mend as well is not said of this one.
// `kinds`: those containers of the file that a fix has to serve as well.
void judge_runtime(DeviceResult& result, const DeviceClass& devices, const VerifyPolicy& policy,
                   const std::vector<KindOfContainer>& kinds, RuntimeUse& runtime);

}  // namespace archguard
