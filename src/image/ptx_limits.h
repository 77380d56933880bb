#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"
#include "image/image.h"

namespace archguard {

struct PtxPragmaRule;
struct PtxRule;

// Bytes of all constants of a module, or of modules that are linked, whether anything uses them. (PTX ISA,
// "Constant State Space"; ptxas 11.8 to 13.5 and nvJitLink 13.0 and 13.5 refuse more.)
inline constexpr std::uint64_t kConstantsMost = 65536;

// Bytes of static shared memory of a kernel. ptxas 13.0 and newer take more of it for targets with an `a`: as
// much as the device has, 227 KB of sm_90a, 99 KB of sm_120a. (CUDA Programming Guide, "Shared Memory";
// real.ptx_limits.)
inline constexpr std::uint64_t kSharedMost = 49152;

// Bytes that a body declares, without what aligning takes.
struct PtxBodySizes {
  std::uint64_t shared = 0, constants = 0;
};

// Looks for instructions that the target of PTX does not have, as far as they are known here: nvcc -ptx
// writes them, since only assembling shows it. Of modifiers and types only those that code behind `#if` on
// the architecture is known to hold are looked at.
class PtxLimits {
 public:
  PtxLimits(Arch target, Version isa);

  // Of the body of a kernel or function: the first that is sure, else the first in doubt. Adds what it
  // declares, where that is not refused for sure.
  std::optional<PtxRefusal> check(std::string_view body, bool kernel, PtxBodySizes& sizes) const;

 private:
  bool may_refuse(std::string_view body, bool kernel) const;
  std::optional<PtxRefusal> read(std::string_view body, bool kernel, PtxBodySizes& sizes) const;
  // What the target does not have, or the PTX ISA of the module before that one.
  struct Absent {
    const PtxRule* rule = nullptr;
    std::optional<Version> isa = {};
    bool disputed = false;
  };
  // Of a statement, and what a message calls it.
  struct Lack {
    Absent absent = {};
    std::string_view name = {};
  };
  void add(const Absent& absent);
  Lack find_lack(std::string_view opcode, std::string_view statement) const;
  std::optional<PtxRefusal> check_statement(std::string_view opcode, std::string_view statement,
                                            bool own_registers) const;
  const PtxPragmaRule* find_pragma(std::string_view statement, bool kernel) const;
  std::optional<PtxRefusal> check_pragma(std::string_view statement, bool kernel) const;

  Arch target_;
  Version isa_;
  std::vector<Absent> absent_;                // by first letter
  std::array<std::size_t, 26> first_with_{};  // where those of each letter begin
  std::bitset<32 * 32 * 32> absent_letters_;  // how those begin
};

}  // namespace archguard
