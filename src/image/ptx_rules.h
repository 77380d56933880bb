#pragma once

#include <array>
#include <string_view>

namespace archguard {

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
  std::string_view opcode;
  int first;
  std::array<std::string_view, 8> parts = {};
  bool specific = false;
  int last = 0;
  PtxForm form = PtxForm::any;
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
    {"fence", 90, {".cluster", ".sync_restrict"}},
    {"fence.mbarrier_init", 90},
    {"fence.proxy.async", 90},
    {"fence.proxy.tensormap", 90},
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

}  // namespace archguard
