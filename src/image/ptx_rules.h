#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace archguard {

// A word of the rules, held in place: pointers to hundreds of texts would be relocated whenever the program
// starts, and few files need the rules.
class PtxRuleWord {
 public:
  constexpr PtxRuleWord() = default;
  template <std::size_t kSize>
  constexpr PtxRuleWord(const char (&text)[kSize]) : size_(kSize - 1) {
    static_assert(kSize - 1 <= kMost, "make PtxRuleWord longer");
    for (std::size_t i = 0; i < size_; ++i) text_[i] = text[i];
  }
  constexpr operator std::string_view() const { return {text_, size_}; }
  constexpr char operator[](std::size_t i) const { return text_[i]; }
  constexpr bool empty() const { return size_ == 0; }

 private:
  static constexpr std::size_t kMost = 27;
  char text_[kMost] = {};
  unsigned char size_ = 0;
};

// What a statement must have behind an opcode for a rule to be about it.
enum class PtxForm {
  any,    // nothing, or one of the parts in the opcode
  reads,  // one of the parts, a special register, as its second operand
  three,  // three operands to read, of type .f32
  alone,  // no `.sync`: gone from PTX ISA 6.4 on
};

// An instruction, by the words that it begins with, or with parts a form of it, and the targets that have it:
// from `first` on, or with `last` to that one, or `specific`: those of them with an `a` or `f`.
struct PtxRule {
  PtxRuleWord opcode;
  int first = 0;
  std::array<PtxRuleWord, 8> parts = {};
  bool specific = false;
  int last = 0;
  PtxForm form = PtxForm::any;
};

// The same of the PTX ISA that brought it, 80 for 8.0, where that is newer than the one of the first target
// that has it. With `last`, targets up to that one have it from there on, and newer ones from their own ISA
// on.
struct PtxIsaRule {
  int isa;
  PtxRule what;
  bool disputed = false;  // compilers of CUDA 12.8 to 13.0 take it in older modules, too
};

// A pragma of bodies, by the words that it begins with, and the PTX ISA that brought it: a compiler that
// knows it refuses it in older modules, and one that does not ignores it. 0: none takes it in a kernel's
// body.
struct PtxPragmaRule {
  PtxRuleWord name;
  int isa;
};

// Of one opcode, what takes the newest target comes first. (PTX ISA, "Target ISA Notes" of each instruction,
// and "Special Registers"; ptxas of 11.8, 12.0 to 12.2, 12.4, 12.9 and 13.5 refuses each on the targets
// below, real.ptx_limits.)
inline constexpr PtxRule kPtxRules[] = {
    // Arithmetic.
    {"abs", 80, {".bf16"}},
    {"abs", 53, {".f16"}},
    {"add", 100, {".f32x2", ".f32.f16", ".f32.bf16"}},
    {"add", 90, {".bf16", ".s16x2", ".u16x2"}},
    {"add", 53, {".f16"}},
    {"fma", 100, {".f32x2", ".f32.f16", ".f32.bf16"}},
    {"fma", 80, {".bf16", ".relu"}},
    {"fma", 53, {".f16"}},
    {"max", 100, {}, false, 0, PtxForm::three},
    {"max", 90, {".relu", ".s16x2", ".u16x2"}},
    {"max", 86, {".xorsign"}},
    {"max", 80, {".NaN", ".bf16", ".f16"}},
    {"min", 100, {}, false, 0, PtxForm::three},
    {"min", 90, {".relu", ".s16x2", ".u16x2"}},
    {"min", 86, {".xorsign"}},
    {"min", 80, {".NaN", ".bf16", ".f16"}},
    {"mul", 100, {".f32x2"}},
    {"mul", 90, {".bf16"}},
    {"mul", 53, {".f16"}},
    {"neg", 80, {".bf16"}},
    {"neg", 53, {".f16"}},
    {"set", 90, {".bf16"}},
    {"set", 53, {".f16"}},
    {"setp", 90, {".bf16"}},
    {"setp", 53, {".f16"}},
    {"sub", 100, {".f32x2", ".f32.f16", ".f32.bf16"}},
    {"sub", 90, {".bf16"}},
    {"sub", 53, {".f16"}},
    {"ex2", 90, {".bf16"}},
    {"ex2", 75, {".f16"}},
    {"tanh", 90, {".bf16"}},
    {"tanh", 75},
    {"bmsk", 70},
    {"dp2a", 61},
    {"dp4a", 61},
    {"lop3", 70, {".or.", ".and.", ".xor."}},
    {"lop3", 50},
    {"szext", 70},
    // Conversions.
    {"cvt.rs", 100, {}, true, 109},
    {"cvt", 100, {".e2m1x2", ".e2m3x2", ".e3m2x2", ".ue8m0x2"}, true},
    {"cvt", 90, {"s32.bf16", "u32.bf16", "8.bf16", "6.bf16", "4.bf16", ".rn.tf32", ".rz.tf32"}},
    {"cvt", 90, {".bf16.s", ".bf16.u", ".bf16.f16", ".bf16.f64"}},
    {"cvt", 89, {".e4m3x2", ".e5m2x2"}},
    {"cvt", 80, {".bf16", ".f16x2", ".tf32", ".relu"}},
    {"cvt.pack", 75, {".s4", ".u4"}},
    {"cvt.pack", 72},
    {"cvt", 70, {".satfinite.f16"}},
    {"cvta", 90, {"::cluster"}},
    {"cvta", 70, {".param"}},
    // Memory.
    {"atom", 90, {".v2", ".v4", ".v8", ".bf16", "::cluster", ".cluster", ".b128"}},
    {"atom", 80, {".L2::"}},
    {"atom", 70, {".relaxed", ".acquire", ".release", ".acq_rel", ".b16"}},
    {"atom", 60, {".cta", ".gpu", ".sys", ".f64", ".f16x2"}},
    {"red.async", 90},
    {"red", 90, {".v2", ".v4", ".v8", ".bf16", "::cluster", ".cluster"}},
    {"red", 80, {".L2::"}},
    {"red", 70, {".relaxed", ".release"}},
    {"red", 60, {".cta", ".gpu", ".sys", ".f64", ".f16x2"}},
    {"isspacep", 90, {"::cluster"}},
    {"isspacep", 70, {".param"}},
    {"ld", 100, {".v8", ".v4.b64", ".v4.f64", ".v4.s64", ".v4.u64"}},
    {"ld", 90, {"::cluster", ".cluster"}},
    {"ld", 80, {".L2::256B", ".L2::cache_hint"}},
    {"ld", 75, {".L2::"}},
    {"ld", 70, {".relaxed", ".acquire", ".weak", ".mmio", ".b128", ".L1::"}},
    {"st.async", 100, {".mmio"}},
    {"st.async", 90},
    {"st.bulk", 100},
    {"st", 100, {".v8", ".v4.b64", ".v4.f64", ".v4.s64", ".v4.u64"}},
    {"st", 90, {"::cluster", ".cluster"}},
    {"st", 80, {".L2::cache_hint"}},
    {"st", 70, {".relaxed", ".release", ".weak", ".mmio", ".b128", ".L1::"}},
    {"mov",
     90,
     {"%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank",
      "%cluster_nctarank", "%aggr_smem_size", "%is_explicit_cluster"},
     false,
     0,
     PtxForm::reads},
    {"multimem.ld_reduce", 100, {".e4m3", ".e5m2"}, true},
    {"multimem", 90},
    {"applypriority", 80},
    {"cp.async.bulk", 90},
    {"cp.async", 80},
    {"cp.reduce.async.bulk", 90},
    {"createpolicy", 80},
    {"discard", 80},
    {"getctarank", 90},
    {"mapa", 90},
    {"prefetch.tensormap", 90},
    {"prefetch", 80, {".L2::evict"}},
    {"tensormap.cp_fenceproxy", 90},
    {"tensormap.replace", 90, {}, true},
    {"alloca", 52},
    {"stackrestore", 52},
    {"stacksave", 52},
    // Threads, blocks and clusters.
    {"fence.mbarrier_init", 90},
    {"fence.proxy.async", 90},
    {"fence.proxy.tensormap", 90},
    {"fence", 90, {".cluster", ".sync_restrict"}},
    {"fence", 70},
    {"mbarrier.complete_tx", 90},
    {"mbarrier.expect_tx", 90},
    {"mbarrier.try_wait", 90},
    {"mbarrier", 90, {".expect_tx", "::cluster", ".cluster"}},
    {"mbarrier", 80},
    {"barrier.cluster", 90},
    {"clusterlaunchcontrol", 100},
    {"elect", 90},
    {"griddepcontrol", 90},
    {"match", 70},
    {"nanosleep", 70},
    {"redux", 100, {".f32"}, true, 109},
    {"redux", 80},
    {"shfl", 0, {}, false, 69, PtxForm::alone},
    {"vote", 0, {}, false, 69, PtxForm::alone},
    {"setmaxnreg", 90, {}, true},
    // Matrices.
    {"mma", 120, {".kind::"}, true},
    {"mma", 90, {".m16n8k4.row.col.f64", ".m16n8k8.row.col.f64", ".m16n8k16.row.col.f64"}},
    {"mma", 89, {".e4m3", ".e5m2"}},
    {"mma.sp", 80},
    {"mma",
     80,
     {".m16n8k16", ".m16n8k32", ".m16n8k64", ".m16n8k128", ".m16n8k256", ".bf16", ".tf32", ".f64"}},
    {"mma", 80, {".and.popc"}},
    {"mma", 75, {".m16n8k8", ".m8n8k16", ".m8n8k32", ".m8n8k128"}},
    {"mma", 70},
    {"wmma", 80, {".bf16", ".tf32", ".f64", ".and.popc"}},
    {"wmma", 75, {".s4", ".u4", ".b1"}},
    {"wmma", 72, {".s8", ".u8"}},
    {"wmma", 70},
    {"wgmma", 90, {}, true, 90},
    {"tcgen05", 100, {}, true, 119},
    {"ldmatrix", 100, {".b8"}, true},
    {"ldmatrix", 75},
    {"movmatrix", 75},
    {"stmatrix", 100, {".b8"}, true},
    {"stmatrix", 90},
};

// Of one opcode, what came last comes first. (PTX ISA, "PTX ISA Notes" of each instruction; ptxas 13.5
// refuses each in older modules, real.ptx_limits.)
inline constexpr PtxIsaRule kPtxIsaRules[] = {
    // Arithmetic and conversions.
    {65, {"abs", 0, {".f16"}}},
    {80, {"add", 0, {".s16x2", ".u16x2"}}},
    {76, {"bmsk"}},
    {81, {"cvt", 0, {".satfinite.f16", ".satfinite.tf32", ".satfinite.bf16"}}},
    {81, {"cvt", 0, {".e4m3x2", ".e5m2x2"}, false, 89}},
    {71, {"cvt", 0, {".f32.bf16"}}},
    {87, {"cvt.rs"}},
    {65, {"cvt.pack"}},
    {83, {"isspacep", 0, {".param::"}}},
    {78, {"isspacep", 0, {"::cta"}}},
    {77, {"isspacep", 0, {".param"}}},
    {78, {"cvta", 0, {"::cta"}}},
    {77, {"cvta", 0, {".param"}}},
    {70, {"ex2", 0, {".f16"}}},
    {82, {"lop3", 0, {".or.", ".and.", ".xor."}}},
    {88, {"max", 0, {}, false, 0, PtxForm::three}},
    {80, {"max", 0, {".relu", ".s16x2", ".u16x2"}}},
    {72, {"max", 0, {".xorsign"}}},
    {88, {"min", 0, {}, false, 0, PtxForm::three}},
    {80, {"min", 0, {".relu", ".s16x2", ".u16x2"}}},
    {72, {"min", 0, {".xorsign"}}},
    {81, {"mov", 0, {"%aggr_smem_size"}, false, 0, PtxForm::reads}},
    {80, {"mov", 0, {"%current_graph_exec"}, false, 0, PtxForm::reads}},
    {76, {"szext"}},
    {70, {"tanh"}},
    // Memory.
    {73, {"alloca"}},
    {73, {"stackrestore"}},
    {73, {"stacksave"}},
    {74, {"applypriority"}},
    {83, {"atom", 0, {".b128"}}},
    {81, {"atom", 0, {".v2", ".v4", ".v8"}}},
    {78, {"atom", 0, {"::cta"}}},
    {74, {"atom", 0, {".L2::"}}},
    {80, {"cp.async.bulk"}},
    {74, {"cp.async", 0, {".L2::"}}},
    {80, {"cp.reduce.async.bulk"}},
    {74, {"createpolicy"}},
    {74, {"discard"}},
    {88, {"ld", 0, {".v8", ".v4.b64", ".v4.f64", ".v4.s64", ".v4.u64"}}},
    {83, {"ld", 0, {".b128"}}},
    {82, {"ld", 0, {".mmio"}}},
    {78, {"ld", 0, {"::cta"}}},
    {74, {"ld", 0, {".L1::", ".L2::"}}},
    {81, {"multimem"}},
    {80, {"prefetch.tensormap"}},
    {74, {"prefetch", 0, {".L2::evict"}}},
    {81, {"red.async"}},
    {81, {"red", 0, {".v2", ".v4", ".v8"}}},
    {78, {"red", 0, {"::cta"}}},
    {74, {"red", 0, {".L2::"}}},
    {87, {"st.async", 0, {".mmio"}}},
    {81, {"st.async"}},
    {88, {"st", 0, {".v8", ".v4.b64", ".v4.f64", ".v4.s64", ".v4.u64"}}},
    {83, {"st", 0, {".b128"}}},
    {82, {"st", 0, {".mmio"}}},
    {78, {"st", 0, {"::cta"}}},
    {74, {"st", 0, {".L1::", ".L2::"}}},
    {83, {"tensormap"}},
    // Threads, blocks and clusters.
    {80, {"barrier.cluster", 0, {".acquire", ".release", ".relaxed"}}},
    {80, {"elect"}},
    {86, {"fence", 0, {".sync_restrict"}}},
    {86, {"fence.acquire"}, true},
    {86, {"fence.release"}, true},
    {83, {"fence.proxy.tensormap"}},
    {80, {"fence.proxy.async"}},
    {75, {"fence.proxy.alias"}},
    {80, {"fence.mbarrier_init"}},
    {80,
     {"mbarrier",
      0,
      {".expect_tx", ".complete_tx", "::cluster", ".cluster", ".release", ".acquire", ".relaxed"}}},
    {78, {"mbarrier", 0, {"::cta"}}},
    {71, {"mbarrier", 0, {".parity"}}},
    // Matrices.
    {65, {"ldmatrix"}},
    {87, {"mma", 0, {".f16.e4m3", ".f16.e5m2", ".m16n8k16.row.col.f32.e4m3", ".m16n8k16.row.col.f32.e5m2"}}},
    {85, {"mma.sp::ordered_metadata"}},
    {84, {"mma", 0, {".e4m3", ".e5m2"}}},
    {71, {"mma", 0, {".and.popc"}}},
    {71, {"mma.sp"}},
    {70, {"mma", 0, {".m8n8k128"}}},
    {65, {"mma", 0, {".m16n8k8", ".m8n8k16", ".m8n8k32"}}},
    {64, {"mma"}},
    {78, {"movmatrix"}},
    {71, {"wmma", 0, {".and.popc"}}},
};

// (PTX ISA, "Pragma Strings"; ptxas 11.8 to 13.5. `abi_param_reg` is in no documentation.)
inline constexpr PtxPragmaRule kPtxPragmaRules[] = {
    {"used_bytes_mask", 83},
    {"enable_smem_spilling", 87},
    {"frequency", 90},
    {"abi_param_reg", 0},
};

}  // namespace archguard
