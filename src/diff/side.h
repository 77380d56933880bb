#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coverage/fatbin_code.h"
#include "coverage/verification.h"

namespace archguard {

// What is told apart of devices: a class of them, as verify judges it.
struct DiffDevice {
  ComputeCapability capability;
  std::optional<Version> driver_cuda;
  bool cuda_at_least = false;    // see Device
  bool may_have_compat = false;  // see DeviceClass
};
bool operator==(const DiffDevice& a, const DiffDevice& b);
DiffDevice diff_device(const DeviceClass& devices);
std::string to_string(const DiffDevice& device);  // "9.0", "9.0@12.4"

// The images of one kind and arch.
struct DiffSize {
  std::uint64_t images = 0;
  std::uint64_t kernels = 0;       // kernels of these images, each file's once
  std::uint64_t stored = 0;        // bytes in the file
  std::uint64_t uncompressed = 0;  // bytes once inflated
};
using DiffSizes = std::map<std::pair<EntryKind, Arch>, DiffSize>;
void add(DiffSizes& to, const DiffSizes& sizes);
DiffSize total_of(const DiffSizes& sizes);

// What a program asks a file for: a kernel, or a variable that host code can name.
struct DiffName {
  bool is_variable = false;
  std::string text;  // mangled
};
inline bool operator==(const DiffName& a, const DiffName& b) {
  return a.is_variable == b.is_variable && a.text == b.text;
}
inline bool operator<(const DiffName& a, const DiffName& b) {  // kernels first
  return std::tie(a.is_variable, a.text) < std::tie(b.is_variable, b.text);
}

// Where a name is found on a device: in each fat binary of the file that has it and is for that device, in
// some, in none, or it cannot be told. A kernel that does nothing there, and something elsewhere, is not
// found.
enum class Runs { everywhere, in_some, nowhere, unknown };

// The names that are not found everywhere: their indices, ascending.
using NotAll = std::vector<std::pair<std::size_t, Runs>>;

// What verify says of one file on one device.
struct DiffVerdict {
  Coverage coverage = Coverage::unknown;
  int code = 0;             // of the first failure; 0 where there is none, or no number
  std::string what, found;  // of the first failure: its reason, and what its place holds
  std::string fix;
  NotAll not_all = {};
};
bool operator==(const DiffVerdict& a, const DiffVerdict& b);

struct DiffFile {
  std::string path, member;                // as they are printed; `member` of a zip file
  std::string key;                         // its path relative to the argument, with the member
  bool has_code = false;                   // for a GPU
  DiffSizes sizes = {};                    //
  std::vector<DiffName> names = {};        // sorted
  std::vector<DiffVerdict> verdicts = {};  // one for each device of the side; none without code
};

// One of two things that are compared.
struct DiffSide {
  std::string name;                           // as it was named
  std::string archguard;                      // the version that judged it
  std::string scope, embedded;                // that it was judged with
  std::vector<DiffDevice> devices;            // that it was judged for
  std::vector<DiffFile> files;                // with device code, or that may hold some
  std::vector<Error> errors;                  // what could not be read: nothing is known to be whole then
  std::vector<std::string> passed_over = {};  // not read, and may hold device code: see Unread
};

// What a file's fat binaries hold.
class FileContents {
 public:
  // Both outlive this.
  FileContents(const std::vector<DeviceClass>& classes, const VerifyPolicy& policy)
      : classes_(classes), policy_(policy), elsewhere_(classes.size()), served_(classes.size()) {}

  void add(const DeviceObject& object, const FatbinCode& code);

  const DiffSizes& sizes() const { return sizes_; }
  std::vector<DiffName> names() const;
  // On a device with this result: indices into names().
  NotAll not_all(const DeviceResult& result, std::size_t device_class) const;

 private:
  using Place = std::tuple<std::string, std::uint64_t>;  // member of an archive, offset
  struct Held {                                          // a name
    std::size_t number = 0;                              // in the order in which they came
    bool bare = false;                                   // an image that the file holds as data has it
    std::uint64_t fatbins = 0;                           // others, so many
    std::uint64_t parts = 0;                             // and of a device link's parts
  };
  std::size_t number_of(const DiffName& name) {
    return held_.try_emplace(name, Held{held_.size()}).first->second.number;
  }
  void note_served(const FatbinCode& code, const std::vector<std::size_t>& here, std::size_t device_class);
  Runs served(std::size_t device_class, std::size_t number) const;
  // In how many fat binaries it is asked for.
  static std::uint64_t counted(const Held& held) { return held.fatbins != 0 ? held.fatbins : held.parts; }

  const std::vector<DeviceClass>& classes_;
  const VerifyPolicy& policy_;
  std::map<DiffName, Held> held_;
  std::map<Place, std::vector<std::size_t>> places_;  // names of each fat binary
  std::set<Place> parts_;                             // of a device link
  // By class and name: in how many fat binaries it is that verify takes to be for other devices only. It asks
  // nothing of them; who had such a kernel before has lost it.
  std::vector<std::map<std::size_t, std::uint64_t>> elsewhere_;
  std::vector<std::map<std::size_t, Runs>> served_;  // by class and name, with scope library: the best
  std::map<std::pair<EntryKind, Arch>, std::vector<bool>> seen_;
  DiffSizes sizes_;
};

// A file that verify judged.
DiffFile diff_file(const FileResult& result, const FileContents& contents, const std::string& key);

}  // namespace archguard
