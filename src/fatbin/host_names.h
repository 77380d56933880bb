#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fatbin/fatbin.h"
#include "host/host_file.h"

namespace archguard {

// Which variables of device code the host code of a file may use. Host code made without -rdc=true registers
// each kernel and variable by name: `deviceName` of __cudaRegisterVar and __cudaRegisterFunction
// (crt/host_runtime.h), a literal in what cudafe++ and clang write. So it stands in the data of that object,
// with a NUL behind, or the runtime never hears of it. Linkers may put it at the end of a longer text, and
// other code has such texts, too. But what is registered has a copy in host memory (host_copies.h), and one
// call takes both. What this was seen on: docs/reference/fatbin.md#what-host-code-registers.
class HostNames {
 public:
  // `file` is what the objects were read from; both outlive this.
  explicit HostNames(const ByteSource& file) : file_(file) {}

  // Does host code register this fat binary of the object for itself, and not as a part or product of a
  // device link?
  bool tells_of(const DeviceObject& object, const Fatbin& fatbin);

  // One search answers for all names of an object that come before the first question.
  void look_for(const DeviceObject& object, const std::string& name);
  // The same, of what has no copy in host memory.
  void look_for_kernel(const DeviceObject& object, const std::string& name);
  // Is it in the data of the object's host code? False where that cannot be read.
  bool has(const DeviceObject& object, const std::string& name);
  // Is it surely not there? False where not all of the data could be read.
  bool lacks(const DeviceObject& object, const std::string& name);
  // Has the file the symbols of the code that registers, as nvcc makes it?
  bool knows_registering_code(const DeviceObject& object) { return searched(object).told; }
  // Does the object surely not want the function of that kernel from elsewhere?
  bool leaves_none_open(const DeviceObject& object, const std::string& name);
  // Has the host function of that kernel, which was looked for, a symbol there: was code that launches it
  // compiled? The symbols are read once for all names.
  bool has_host_function(const DeviceObject& object, const std::string& kernel);
  // May a launch of that kernel, which is not registered, have been compiled? Not where the file has all
  // symbols, none of the kernel's host function, and launches nothing that is not registered; not where its
  // host function launches what is; and not by clang.
  bool may_launch_unregistered(const DeviceObject& object, const std::string& kernel);
  // Is it, of a variable, there for a call that registers it? As long as the file does not tell, that it is
  // there at all.
  bool registers(const DeviceObject& object, const std::string& name);
  // Is a variable registered, or used all the same: has it a copy? True where that cannot be told. clang
  // registers whatever host code can use.
  bool may_use(const DeviceObject& object, const std::string& name);
  // Is a variable that is registered not used: does nothing but the call that registers it point to its copy?
  // False where that cannot be told.
  bool leaves_alone(const DeviceObject& object, const std::string& name);
  // Is a variable used that nothing registers? False where that cannot be told.
  bool uses_unregistered(const DeviceObject& object, const std::string& name);

 private:
  struct OfObject {
    std::optional<std::vector<std::uint64_t>> places;  // of such fat binaries, ascending
    std::set<std::string> wanted, variables;           // and of these those that may have copies
    bool searched = false, told = false, whole = false;
    std::set<std::string> texts;
    std::set<std::string> registered, perhaps_used, surely_used, left_alone;  // of variables
    std::optional<std::set<std::string>> wanted_elsewhere;                    // kernels
    std::optional<std::set<std::string>> with_function;  // kernels, of so many in `wanted`
    std::size_t asked_functions = 0;
    std::optional<std::set<std::string>> launching;  // demangled, of host functions that launch themselves
    std::size_t asked_launches = 0;
    std::optional<bool> may_launch;  // anything that is not registered
    std::optional<bool> of_clang;
  };
  OfObject& searched(const DeviceObject& object);
  bool launches_itself(const DeviceObject& object, const std::string& kernel);
  bool is_of_clang(const DeviceObject& object);
  bool search(OfObject& of, const DeviceObject& object, const ByteSource& source, const HostObject& host);

  const ByteSource& file_;
  std::map<const DeviceObject*, OfObject> objects_;
};

// How many functions of each of these names the object's host code has, as far as its symbols tell.
std::map<std::string, std::size_t> count_host_functions(const DeviceObject& object, const ByteSource& file,
                                                        const std::set<std::string>& names);

}  // namespace archguard
