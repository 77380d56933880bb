#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "image/image.h"

namespace archguard {

class PtxCallGraph;

// What kernels of a module reach through the functions that they call, and compilers refuse there: more
// static shared memory than a kernel may have, and calls that pass predicates or small registers. As
// ptxas 11.8, 12.9 and 13.5 count (real.ptx_limits):
//
// - Variables at module scope count where a kernel, or a function that it reaches, names them.
// - A function counts with what it calls. Of functions that are called one after the other ptxas lets some
//   share their memory, by no rule that is known.
// - Whoever calls through a pointer calls each function whose address something takes.
// - Variables that no instruction names count in kernels, and in functions that these call themselves.
//
// What aligning takes is not added. Bodies are read again only where there may be too much.
class PtxCalls {
 public:
  explicit PtxCalls(Version isa);
  ~PtxCalls();

  // A kernel, or a function, with the bytes of shared memory that its body declares. All texts outlive it.
  void add_body(std::string_view name, bool kernel, std::string_view body, std::uint64_t shared);
  void add_shared(std::string_view name, std::uint64_t size);  // at module scope
  void add_alias(std::string_view name, std::string_view of);
  void add_values(std::string_view text);           // of variables: addresses of functions may be among them
  void add_small_registers(std::string_view name);  // a function that takes or returns such
  void forget_small_registers() { small_.clear(); }
  void add_extern(std::string_view name);  // a function of another module

  // Once all is added. In doubt where it cannot be told whether compilers refuse it.
  std::optional<PtxRefusal> check(Arch target);
  // Static shared memory of kernels and functions, for whoever links the module.
  void tell(LinkNames& names);
  // Who needs the functions of other modules that it wants.
  void tell_needs(LinkNames& names);

 private:
  PtxCallGraph& graph();
  std::uint64_t most() const;  // bytes that a kernel may have with all functions
  struct Body {
    std::string_view name, text;
    bool kernel = false;
  };
  struct Named {
    std::string_view name;
    std::uint64_t size = 0;
  };
  friend class PtxCallGraph;

  const Version isa_;
  std::unique_ptr<PtxCallGraph> graph_;  // where one was asked for
  std::vector<Body> bodies_;
  std::vector<Named> shared_;
  std::vector<std::pair<std::string_view, std::string_view>> aliases_;
  std::vector<std::string_view> values_, small_, externs_;
  std::uint64_t of_functions_ = 0, of_module_ = 0, of_kernel_ = 0;  // the last of the one that has the most
};

}  // namespace archguard
