#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coverage/device_link.h"
#include "coverage/fatbin_code.h"

namespace archguard {

// Kernels that several fat binaries of a file hold. The host function that launches an instance of a template
// is a weak symbol (nvcc before 13.0, with -rdc=true, and with -static-global-template-stub=false; "nvcc
// --help" warns of it), and so is that of an `inline` kernel: the linker keeps one for all of them, and the
// CUDA runtime launches the kernel of the fat binary that was registered first. Looked for only where that
// one may be for other devices only, as all of its images have a suffix; else each fat binary is asked for
// anyway.
class SharedStubs {
 public:
  using Place = std::pair<std::string, std::uint64_t>;  // a fat binary: its object's member, and its offset

  // Both outlive it.
  SharedStubs(const DeviceCode& code, const ByteSource& file);

  // Each fat binary as it is read.
  void note(const DeviceObject& object, const FatbinCode& code);

  struct Finding {
    LinkJudge::Subject subject;        // what was registered first
    std::vector<std::string> kernels;  // mangled
    bool sure = false;  // else the file does not tell how many of these host functions it has, or the order
    bool stripped = false;  // since local symbols are not there
  };
  // Kernels of which the runtime launches that of `others`, fat binaries that are all for other devices than
  // one, while another fat binary holds it for this device.
  std::vector<Finding> find(const std::set<Place>& others);

 private:
  struct Held {
    std::size_t order = 0;  // of registrations
    bool linked = false;    // by the device linker: registered with the last of its objects
    std::uint64_t offset = 0;
    LinkJudge::Subject subject;
    std::map<std::uint64_t, std::string> kernels;  // by hash; of what may be for other devices
  };
  // A kernel that several hold.
  struct Shared {
    std::string kernel;
    std::vector<std::size_t> holders;  // in `all`, the first registered one first
    bool sure = false;
  };
  struct OfObject {
    bool stripped = false;
    std::map<std::uint64_t, std::size_t> order;  // of registrations, by the fat binary's offset
    std::vector<Held> all;
    std::vector<std::pair<std::uint64_t, std::size_t>> holders;  // a name's hash, and of `all`
    std::optional<std::vector<Shared>> shared;
  };
  void gather(const DeviceObject& object, OfObject& of) const;

  const ByteSource& file_;
  std::size_t names_left_, bytes_left_;
  std::map<const DeviceObject*, OfObject> objects_;  // those that are looked at
};

}  // namespace archguard
