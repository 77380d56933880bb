#pragma once

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "compat/arch.h"
#include "image/image.h"

namespace archguard {

// Bytes of all constants of a module, or of modules that are linked, whether anything uses them. (PTX ISA,
// "Constant State Space"; ptxas 11.8 to 13.5 and nvJitLink 13.0 and 13.5 refuse more.)
inline constexpr std::uint64_t kConstantsMost = 65536;

// Looks for what every compiler of a PTX target refuses in bodies, as far as it is known here: instructions
// that the target does not have, and static shared memory of a kernel beyond 48 KB. nvcc -ptx writes both,
// since only assembling shows it. Not looked at: modifiers and types of instructions, and shared memory that
// is declared outside of kernels.
class PtxLimits {
 public:
  PtxLimits(Arch target, Version isa);

  // Of the body of one kernel or, where `kernel` is empty, of a function.
  std::optional<PtxRefusal> check(std::string_view body, std::string_view kernel) const;

  struct Rule;

 private:
  bool may_refuse(std::string_view body) const;
  std::optional<PtxRefusal> read(std::string_view body, std::string_view kernel) const;
  std::optional<PtxRefusal> check_opcode(std::string_view opcode) const;

  Arch target_;
  Version isa_;
  std::vector<const Rule*> absent_;           // what the target does not have
  std::bitset<32 * 32 * 32> absent_letters_;  // how those begin
};

}  // namespace archguard
