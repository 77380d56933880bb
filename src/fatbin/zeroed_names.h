#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "fatbin/host_names.h"

namespace archguard {

// Were names of kernels that host code registers overwritten by zeros? The runtime is then handed an empty
// name, and finds no such kernel when it is launched. A kernel whose name stands nowhere in host data tells
// nothing by itself: what only device code launches, host code does not name. But blocks of zeros among
// constants are rare, and beside names, or where all names are gone, there are none in real files (seen of
// 1,500 programs, libraries and objects).
class ZeroedNames {
 public:
  // Both outlive this.
  ZeroedNames(const ByteSource& file, HostNames& host_names) : file_(file), host_names_(host_names) {}

  // Are there such blocks at all? Only then is anything to be noted.
  bool may_be(const DeviceObject& object) { return !of(object).zeros.empty(); }
  // A kernel of this fat binary of the object, by its place in DeviceObject::fatbins. `everywhere`: all of
  // its images hold it, and so does the one that nvcc goes by when it registers.
  void note(const DeviceObject& object, std::size_t fatbin, const std::string& kernel, bool everywhere);
  void note_variable(const DeviceObject& object, const std::string& variable);
  // Once all names of the object were noted: which of its constants lost names.
  std::optional<Error> find(const DeviceObject& object);

 private:
  // Zeros that fill a block of the file, or what a section has of it.
  struct Zeros {
    std::uint64_t offset = 0, size = 0;  // offset: within the object
    std::string section;
    std::uint64_t section_offset = 0;
    std::string before, after, next;  // texts, empty where none ends; `next` stands behind `after`
    bool literals = false;            // in a section of an object that holds nothing but texts
    bool blocks = false;              // whole ones of the file, but for what fills up between texts
  };
  struct OfObject {
    std::vector<Zeros> zeros;
    std::set<std::size_t> registered;  // fat binaries
    std::set<std::string> kernels, variables;
    std::set<std::string> expected;  // kernels: host code registers them, unless device code alone launches
                                     // them, which only separate compilation can
    std::set<std::string> linked;    // kernels of separate compilation
  };
  class Search;
  OfObject& of(const DeviceObject& object);

  const ByteSource& file_;
  HostNames& host_names_;
  std::map<const DeviceObject*, OfObject> objects_;
};

}  // namespace archguard
