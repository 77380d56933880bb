"""What bodies of PTX hold and its target does not have is error 218 where ptxas refuses it, and covered where ptxas takes it.

For each instruction of the table in src/image/ptx_limits.cc one that is whole, for each target of TARGETS; LTO-IR and device-side
synchronization are compared with nvJitLink.
"""
import ctypes
import functools
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import common

# By release: its PTX ISA, and targets.
TARGETS = {"13.5": ("9.2", "75 80 90 90a 100 100a 100f 103 110a 120 120a 120f 121a"), "12.9": ("8.8", "50 52 60 61 70 80 90a 100 101a")}
OLDER = {"11.8": ("7.8", "50 60 61 70 75 80 86 89 90"), "12.0": ("8.0", "50 70 75 80 86 89 90a"), "12.1": ("8.1", "75 80 86 89 90"),
         "12.2": ("8.2", "75 80 86 89 90"), "12.4": ("8.4", "75 80 86 89 90")}
DECLARED = """.reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .pred %p<9>;
.shared .align 128 .b8 s[1024];
"""
INSTRUCTIONS = """
wgmma.fence.sync.aligned
wgmma.commit_group.sync.aligned
tcgen05.wait::ld.sync.aligned
tcgen05.fence::before_thread_sync
setmaxnreg.inc.sync.aligned.u32 64
tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s+16]
barrier.cluster.arrive
barrier.cluster.arrive.release
barrier.cluster.arrive.relaxed.aligned
barrier.cluster.wait.aligned
barrier.cluster.wait.acquire
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2]
cp.async.bulk.commit_group
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], 16
elect.sync _|%p1, 0xffffffff
getctarank.u64 %r1, %d2
griddepcontrol.wait
mapa.u64 %d1, %d2, %r1
multimem.ld_reduce.add.u32 %r1, [%d1]
prefetch.tensormap [%d1]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3]
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3]
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2}
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%d2], 128
applypriority.global.L2::evict_normal [%d1], 128
cp.async.ca.shared.global [%r1], [%d1], 16
createpolicy.fractional.L2::evict_last.b64 %d1
discard.global.L2 [%d1], 128
mbarrier.init.shared.b64 [%r1], 1
redux.sync.add.u32 %r1, %r2, 0xffffffff
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2]
movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2
tanh.approx.f32 %f1, %f2
bmsk.clamp.b32 %r1, %r2, %r3
match.any.sync.b32 %r1, %r2, 0xffffffff
mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0,%r1,%r2,%r3},{%r4,%r5},{%r6,%r7},{%r0,%r1,%r2,%r3}
nanosleep.u32 %r1
szext.clamp.u32 %r1, %r2, %r3
wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d1]
dp2a.lo.u32.u32 %r1, %r2, %r3, %r4
dp4a.u32.u32 %r1, %r2, %r3, %r4
alloca.u64 %d1, %d2
lop3.b32 %r1, %r2, %r3, %r4, 0x40
add.s32 %r1, %r2, %r3
mbarrier.try_wait.shared.b64 %p1, [%r1], %d1
mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2
mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], %r2
mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], %r2
mbarrier.arrive_drop.expect_tx.shared.b64 %d1, [%r1], %r2
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]
mbarrier.arrive.shared::cta.b64 %d1, [%r1]
mbarrier.test_wait.shared.b64 %p1, [%r1], %d1
fence.proxy.async
fence.proxy.async.shared::cta
fence.proxy.alias
fence.proxy.tensormap::generic.release.gpu
fence.mbarrier_init.release.cluster
fence.acq_rel.cluster
fence.acq_rel.gpu
lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x40, %p2
mov.b64 %d1, %current_graph_exec
cp.async.ca.shared.global.L2::128B [%r1], [%d1], 16
st.shared::cta.u32 [%r2], %r1
atom.shared::cta.add.u32 %r1, [%r2], %r3
red.shared::cta.add.u32 [%r2], %r3
cvta.shared::cta.u64 %d1, %d2
isspacep.shared::cta %p1, %d2
ld.shared::cluster.u32 %r1, [%r2]
ld.shared::cta.u32 %r1, [%r2]
st.shared::cluster.u32 [%r2], %r1
atom.shared::cluster.add.u32 %r1, [%r2], %r3
red.shared::cluster.add.u32 [%r2], %r3
cvta.shared::cluster.u64 %d1, %d2
isspacep.shared::cluster %p1, %d2
mov.u32 %r1, %clusterid.x
mov.u32 %r1, %nclusterid.y
mov.u32 %r1, %cluster_ctaid.z
mov.u32 %r1, %cluster_nctaid.x
mov.u32 %r1, %cluster_ctarank
mov.u32 %r1, %cluster_nctarank
mov.u32 %r1, %ctaid.x
{ .reg .b32 %cluster_ctarank; mov.u32 %r1, %cluster_ctarank; }
red.global.add.v4.f32 [%d1], {%f1,%f2,%f3,%f4}
red.global.v4.f32.add [%d1], {%f1,%f2,%f3,%f4}
red.global.add.noftz.v2.bf16x2 [%d1], {%r1,%r2}
atom.global.v4.f32.add {%f5,%f6,%f7,%f8}, [%d1], {%f1,%f2,%f3,%f4}
red.global.add.noftz.bf16x2 [%d1], %r1
atom.global.add.noftz.bf16 %h2, [%d1], %h1
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3},{%r0,%r1},{%r4},{%r0,%r1,%r2,%r3}
mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1,%r2,%r3}
mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
cvt.rn.bf16x2.f32 %r1, %f1, %f2
cvt.rn.f16x2.f32 %r1, %f1, %f2
cvt.rn.bf16.f32 %h1, %f1
cvt.f32.bf16 %f1, %h1
cvt.rna.tf32.f32 %r1, %f1
cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2
cvt.rn.satfinite.e5m2x2.f32 %h1, %f1, %f2
cvt.rn.f16x2.e4m3x2 %r1, %h1
cvt.rn.f16.f32 %h1, %f1
ex2.approx.ftz.bf16x2 %r1, %r2
ex2.approx.f16x2 %r1, %r2
ex2.approx.ftz.f32 %f1, %f2
tanh.approx.bf16x2 %r1, %r2
min.NaN.f32 %f1, %f2, %f3
max.ftz.NaN.f32 %f1, %f2, %f3
max.f16 %h1, %h2, %h3
max.bf16x2 %r1, %r2, %r3
max.f32 %f1, %f2, %f3
max.f32 %f1, %f2, %f3, %f4
min.ftz.f32 %f1, %f2, %f3, %f4
ld.relaxed.cluster.global.u32 %r1, [%d1]
ld.acquire.cluster.u32 %r1, [%d1]
ld.relaxed.gpu.global.u32 %r1, [%d1]
st.release.cluster.global.u32 [%d1], %r1
st.relaxed.cluster.shared.u32 [%r2], %r1
atom.relaxed.cluster.global.add.u32 %r1, [%d1], %r2
atom.cluster.global.add.u32 %r1, [%d1], %r2
atom.cluster.add.u32 %r1, [%d1], %r2
red.release.cluster.global.add.u32 [%d1], %r2
red.cluster.global.add.u32 [%d1], %r2
fence.cluster
mbarrier.arrive.release.cluster.shared::cta.b64 %d1, [%r1]
mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p1, [%r1], %d1
mbarrier.arrive.release.cta.shared::cta.b64 %d1, [%r1]
mbarrier.test_wait.acquire.cta.shared.b64 %p1, [%r1], %d1
mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2
fma.rn.bf16 %h1, %h2, %h3, %h4
fma.rn.bf16x2 %r1, %r2, %r3, %r4
fma.rn.relu.bf16 %h1, %h2, %h3, %h4
fma.rn.relu.f16 %h1, %h2, %h3, %h4
fma.rn.f16 %h1, %h2, %h3, %h4
fma.rn.f32 %f1, %f2, %f3, %f4
fma.rn.f32x2 %d1, %d2, %d3, %d4
fma.rn.f32.f16 %f1, %h1, %h2, %f4
add.bf16 %h1, %h2, %h3
add.rn.bf16x2 %r1, %r2, %r3
sub.bf16 %h1, %h2, %h3
mul.bf16 %h1, %h2, %h3
mul.bf16x2 %r1, %r2, %r3
add.f16 %h1, %h2, %h3
add.rn.f32x2 %d1, %d2, %d3
sub.rn.f32x2 %d1, %d2, %d3
mul.rn.f32x2 %d1, %d2, %d3
add.rn.f32.f16 %f1, %h1, %f3
add.f32.bf16 %f1, %h1, %f3
sub.rn.f32.f16 %f1, %h1, %f3
neg.bf16 %h1, %h2
abs.bf16 %h1, %h2
neg.f16 %h1, %h2
abs.f16 %h1, %h2
set.lt.bf16.bf16 %h1, %h2, %h3
set.lt.u32.bf16 %r1, %h2, %h3
set.lt.f16.f16 %h1, %h2, %h3
setp.lt.bf16 %p1, %h2, %h3
setp.lt.bf16x2 %p1|%p2, %r2, %r3
setp.lt.f16 %p1, %h2, %h3
min.xorsign.abs.f32 %f1, %f2, %f3
max.NaN.xorsign.abs.f32 %f1, %f2, %f3
max.xorsign.abs.f16 %h1, %h2, %h3
max.NaN.xorsign.abs.bf16x2 %r1, %r2, %r3
min.s16x2 %r1, %r2, %r3
max.u16x2 %r1, %r2, %r3
max.relu.s32 %r1, %r2, %r3
max.relu.s16x2 %r1, %r2, %r3
add.u16x2 %r1, %r2, %r3
add.s16x2 %r1, %r2, %r3
cvt.rn.relu.f16.f32 %h1, %f1
cvt.rn.relu.f16x2.f32 %r1, %f1, %f2
cvt.rn.bf16.f16 %h1, %h2
cvt.rni.s32.bf16 %r1, %h2
cvt.rn.bf16.s32 %h1, %r2
cvt.rn.tf32.f32 %r1, %f1
cvt.rna.satfinite.tf32.f32 %r1, %f1
cvt.rn.satfinite.f16.f32 %h1, %f1
cvt.rn.satfinite.bf16x2.f32 %r1, %f1, %f2
cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2
cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f2
cvt.rn.satfinite.e3m2x2.f32 %h1, %f1, %f2
cvt.rz.satfinite.ue8m0x2.f32 %h1, %f1, %f2
cvt.rn.bf16x2.ue8m0x2 %r1, %h1
cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1
cvt.rn.f16x2.e2m1x2 %r1, %b1
cvt.pack.sat.s16.s32 %r1, %r2, %r3
cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4
cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4
ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d1]
ld.global.v4.b64 {%d0,%d2,%d3,%d4}, [%d1]
st.global.v8.f32 [%d1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}
st.global.v4.f64 [%d1], {%g0,%g2,%g3,%g4}
ld.global.L2::256B.u32 %r1, [%d1]
ld.global.L2::128B.u32 %r1, [%d1]
ld.global.L2::64B.u32 %r1, [%d1]
ld.global.L1::evict_first.u32 %r1, [%d1]
ld.global.L1::no_allocate.u32 %r1, [%d1]
ld.global.nc.L2::evict_last.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d1]
ld.global.L2::cache_hint.u32 %r1, [%d1], %d2
st.global.L1::evict_last.u32 [%d1], %r1
st.global.L2::cache_hint.u32 [%d1], %r1, %d2
ld.global.b128 %q1, [%d1]
st.global.b128 [%d1], %q1
atom.global.b128.exch %q1, [%d1], %q2
atom.global.exch.b128 %q1, [%d1], %q2
ld.weak.global.u32 %r1, [%d1]
ld.relaxed.sys.mmio.global.u32 %r1, [%d1]
ld.mmio.relaxed.sys.global.u32 %r1, [%d1]
st.mmio.relaxed.sys.global.u32 [%d1], %r1
ld.relaxed.sys.u32 %r1, [%d1]
ld.volatile.global.u32 %r1, [%d1]
atom.relaxed.gpu.global.add.u32 %r1, [%d1], %r2
atom.gpu.global.add.u32 %r1, [%d1], %r2
atom.cta.add.u32 %r1, [%d1], %r2
atom.global.add.noftz.f16x2 %r1, [%d1], %r2
atom.global.add.f64 %g1, [%d1], %g2
atom.global.cas.b16 %h1, [%d1], %h2, %h3
red.global.add.f64 [%d1], %g2
red.relaxed.gpu.global.add.u32 [%d1], %r2
atom.global.add.L2::cache_hint.u32 %r1, [%d1], %r2, %d2
st.bulk.shared::cta [%r1], 64, 0
isspacep.param %p1, %d1
cvta.param.u64 %d1, %d2
isspacep.param::entry %p1, %d1
mov.u32 %r1, %aggr_smem_size
mov.pred %p1, %is_explicit_cluster
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1}
mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1}
mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1,%r2,%r3}
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0,%r1},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r2,%r3}
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1}
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1}
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1,%r2,%r3},{%r0,%r1},{%r4},{%r0,%r1,%r2,%r3}
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1,%r2,%r3}
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3}
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g0,%g1},{%g2},{%g3},{%g0,%g1}
mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%g0,%g1,%g2,%g3},{%g4,%g5},{%g6},{%g0,%g1,%g2,%g3}
mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%g0,%g1,%g2,%g3},{%g4,%g5,%g6,%g7},{%g6,%g7},{%g0,%g1,%g2,%g3}
mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4,%r5},{%f0,%f1,%f2,%f3},%r6,0
mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4,%r5},{%f0,%f1,%f2,%f3},%r6,0
mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%f0,%f1,%f2,%f3},%r6,0
mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r0,%r1},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r2,%r3}
mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3}
mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3}
mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3},%r6,{0,0},%r7,{0,0}
wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0,%r1,%r2,%r3}, [%d1]
wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r0,%r1,%r2,%r3}, [%d1]
wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%g0}, [%d1]
wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%d1]
wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%d1]
wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r0}, [%d1]
wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1}
wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1}
ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2}, [%r3]
ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [%r3]
stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r2}
prefetch.global.L2::evict_last [%d1]
prefetch.global.L2 [%d1]
prefetchu.L1 [%d1]
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster
fence.acquire.sync_restrict::shared::cluster.cluster
multimem.ld_reduce.add.v4.bf16x2 {%r1,%r2,%r3,%r4}, [%d1]
ld.shared::cluster.v4.u32 {%r1,%r3,%r4,%r5}, [%r2]
ld.global.nc.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d1]
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3]
st.async.mmio.release.sys.global.b32 [%d1], %r2
stackrestore.u64 %d1
stacksave.u64 %d1
.shared .b8 t[48128]
.shared .b8 t[48129]
.shared .b8 t[30000], u[30000]
{ .shared .b8 t[30000]; } { .shared .v4 .b32 u[40][64]; }
""".strip().split("\n")

# Forms that some target lacks though that is not told: what is taken must not be refused.
PARTLY = """
fma.rn.oob.f16 %h1, %h2, %h3, %h4
mbarrier.arrive.shared.b64 %d1, [%r1], %r2
cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2
atom.global.add.noftz.f16 %h1, [%d1], %h2
red.global.add.noftz.f16 [%d1], %h2
redux.sync.min.f32 %f1, %f2, 0xffffffff
redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff
mov.u32 %r1, %reserved_smem_offset_begin
mov.b32 %r1, %reserved_smem_offset_0
mov.b128 %q1, {%d1, %d2}
mov.b128 %q1, %q2
fence.acquire.gpu
fence.release.gpu
multimem.ld_reduce.add.acc::f16.v4.e4m3x4 {%r1,%r2,%r3,%r4}, [%d1]
tcgen05.ld.red.sync.aligned.32x32b.x2.f32.min {%f0,%f1}, %f2, [%r1]
""".strip().split("\n")

# Outside of bodies: what the target must have, and what no compiler takes.
DIRECTIVES = """
.entry k() .reqnctapercluster 2 { ret; }
.entry k() .explicitcluster { ret; }
.entry k() .maxclusterrank 4 { ret; }
.func f() .abi_preserve 8 { ret; }
.func f() .abi_preserve_control 8 { ret; }
.global .b128 v;
.shared .b128 v;
.global .f16x2 v;
.global .attribute(.managed) .u32 v;
.global .attribute(.foo) .u32 v;
.func .attribute(.managed) f() { ret; }
.entry k() .maxntid 32 { ret; }
.entry k() .reqntid 32 { ret; }
.entry k() .maxntid 32 .reqntid 32 { ret; }
.entry k() .maxntid 0 { ret; }
.entry k() .maxntid 32, 0 { ret; }
.entry k() .maxntid 0x0 { ret; }
.entry k() .maxntid 2048 { ret; }
.entry k() .reqntid 0 { ret; }
.entry k() .maxnreg 0 { ret; }
.entry k() .maxnreg 1 { ret; }
.entry k() .minnctapersm 0 { ret; }
.entry k() .reqnctapercluster 2 .maxclusterrank 4 { ret; }
.entry k() .maxclusterrank 4 .reqnctapercluster 2 { ret; }
.entry k() .noreturn { ret; }
.func f() .noreturn { ret; }
.func f() .maxntid 32 { ret; }
.func f() .maxnreg 32 { ret; }
.func f() .maxclusterrank 4 { ret; }
.entry k() .abi_preserve 8 { ret; }
.global .align 3 .b8 v;
.global .align 0 .b8 v;
.global .align 020 .b8 v;
.global .align 0x10 .b8 v;
.global .align 1 .b32 v;
.const .align 12 .b8 v;
.shared .align 3 .b8 v;
.const .attribute(.managed) .u32 v;
.shared .attribute(.managed) .u32 v;
.global .u32 v; .global .u32 v;
.global .u32 v; .const .u32 v;
.global .u32 v; .shared .u32 v;
.global .u32 v; .extern .global .u32 v;
.global .u32 v; .func v() { ret; }
.func f() { ret; } .func f() { ret; }
.func f() { ret; } .entry f() { ret; }
.func f(); .func f() { ret; }
""".strip().split("\n")

# Functions that PTX may call without a body, from some release on or never.
FUNCTIONS = """
__assertfail __profile free malloc vprintf printf memcpy abort clock __ldg __cuda_syscall __cuda_syscall_aligned_malloc __cuda_syscall_any
__cuda_sys __cudaCDP2Malloc cudaGetParameterBuffer cudaLaunchDevice cudaGetLastError cudaGraphLaunch cudaGraphSetConditional
cudaGraphKernelNodeSetEnabled cudaGraphKernelNodeSetGridDim cudaGraphKernelNodeSetParam cudaGraphKernelNodeUpdatesApply cudaGraphInstantiate
cnpCtxSynchronize cnpDeviceGetAttribute cnpDeviceGetName cnpEventCreate cnpEventDestroy cnpEventRecord cnpEventQuery cnpFuncGetAttribute
cnpGetCacheConfig cnpGetDevice cnpGetDeviceCount cnpGetLastError cnpGetLimit cnpGetParameterBuffer cnpGetParameterBufferV2
cnpGetSharedMemConfig cnpLaunchDevice cnpLaunchDeviceV2 cnpSetLastError cnpStreamCreate cnpStreamDestroy cnpStreamWaitEvent cnpStreamQuery
cnpDeviceGetTotalMem vfprintf vsnprintf cudaFabricOpErrorStatusCount cudaFabricOpErrorStatusGet cudaFabricOpMbarrierV1ErrorStatusGet
cudaDeviceMemcpyAsync cudaDeviceMemcpyBatchAsync cudaResizeSharedMemory cudaSubgridScheduleManageWarpSpecializedWorkspaceAndDependencies
cudaSubgridSynchronousWorkspaceAdvanceWorkset cudaSubgridSynchronousWorkspaceCompleteAndFetchWorkItem
cudaSubgridSynchronousWorkspaceGetWorksetUserData cudaSubgridSynchronousWorkspaceInitialize
cudaSubgridWarpSpecializedWorkspaceAdvanceWorkset cudaSubgridWarpSpecializedWorkspaceCompleteWorkItem
cudaSubgridWarpSpecializedWorkspaceFetchWorkItem cudaSubgridWarpSpecializedWorkspaceGetWorksetUserData
cudaSubgridWarpSpecializedWorkspaceInitialize cudaSubgridWarpSpecializedWorkspaceWaitOnWorkItemDependencies cudaSubgridInitialize
""".split()


def ptxas(release):
    found = glob.glob(os.path.join(common.options.cache, "ptxas-" + release, "nvidia", "*", "bin", "ptxas"))
    if not found:
        raise unittest.SkipTest("no ptxas; run tests/support/fetch ptxas-" + release)
    return found[0]


def codes(paths, device):
    """By path, what verify says for the device: 0 for covered, the error's number, or None."""
    command = [common.options.archguard, "verify", "--format", "json", "--device", device] + paths
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
    said = {}
    for file in json.loads(done.stdout)["files"]:
        (result,) = file["results"]
        if result["verdict"] == "covered":
            said[file["path"]] = 0
        else:
            said[file["path"]] = result["errors"][0]["code"] if result["errors"] and not file["errors"] else None
    return said


LACKS = r"(?:requires|not supported on) \.target"  # so ptxas says that the target lacks what it knows
TOO_OLD = r"requires PTX ISA"                      # or the module's PTX ISA

# PTX ISA and targets: each ISA that brought instructions of INSTRUCTIONS, and the one before it.
OLD_MODULES = (("6.3", "75"), ("6.4", "75"), ("6.5", "75"), ("7.0", "75 80"), ("7.1", "86"), ("7.2", "80"), ("7.3", "75 80"), ("7.4", "75 80"), ("7.5", "80"),
               ("7.6", "80"), ("7.7", "80"), ("7.8", "75 80 89 90"), ("8.0", "80 89 90 90a"), ("8.1", "89 90"), ("8.2", "90"), ("8.3", "90a"),
               ("8.4", "89"), ("8.5", "90"), ("8.6", "90 100a"), ("8.7", "100"))


def head_of(isa, target):
    return ".version %s\n.target sm_%s\n.address_size 64\n" % (isa, target)


def kernel(line, number=0):
    """A kernel whose body is the line."""
    registers = ".reg .b128 %q<9>;\n" if "%q" in line else ""
    return ".entry k%d() {\n%s%s%s%s\nret;\n}\n" % (number, DECLARED, registers, line, "" if line[0] == "{" else ";")


class Asked(unittest.TestCase):
    """What ptxas and verify say of kernels."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def compare(self, release, isa, target, lines):
        """By line, what verify says of a kernel of it, and whether ptxas takes it."""
        head = head_of(isa, target)
        paths = {line: self.write("%s_%s_%d.ptx" % (release, target, i), head + kernel(line)) for i, line in enumerate(lines)}
        number = target.rstrip("af")
        said = codes(list(paths.values()), number[:-1] + "." + number[-1] + "@" + release)
        taken = self.taken(release, isa, target, [line for line in lines if line not in self.unknown(release)])
        return {line: said[path] for line, path in paths.items()}, {line: line in taken for line in lines}

    @functools.lru_cache(None)
    def unknown(self, release):
        """The lines that no target of an older release has: its ptxas does not even know the words."""
        if release not in OLDER:
            return set()
        isa, targets = OLDER[release]
        target = targets.split()[-1]
        before = list(OLDER)[:list(OLDER).index(release)]  # what one release knows, all later ones do
        lines = self.unknown(before[-1]) if before else INSTRUCTIONS + PARTLY
        asked = {line: self.assemble(release, target, head_of(isa, target) + kernel(line)) for line in lines}
        return {line for line, done in asked.items() if re.search("line .*(error|fatal)", done.stdout) and not re.search(LACKS, done.stdout)}

    def taken(self, release, isa, target, lines):
        """The lines whose kernels ptxas takes. It is given all in one file, and names those that the target has not; then the others
        again, until it takes all that are left. Where it names none, each half is asked."""
        while lines:
            text, line_of = head_of(isa, target), {}
            for number, line in enumerate(lines):
                first = text.count("\n") + 1
                text += kernel(line, number)
                line_of.update(dict.fromkeys(range(first, text.count("\n") + 1), line))
            done = self.assemble(release, target, text)
            if done.returncode == 0:
                return set(lines)
            if len(lines) == 1:
                return set()
            refused = {line_of[int(at)] for at in re.findall(r"line (\d+); error .*(?:%s|%s)" % (LACKS, TOO_OLD), done.stdout)}
            if not refused:
                half = len(lines) // 2
                return self.taken(release, isa, target, lines[:half]) | self.taken(release, isa, target, lines[half:])
            lines = [line for line in lines if line not in refused]
        return set()

    def assemble(self, release, target, text):
        return subprocess.run([ptxas(release), "-arch=sm_" + target, self.write("asked.ptx", text), "-o", os.devnull],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


class PtxLimitsTest(Asked):
    def test_bodies(self):
        refused = taken = 0
        for release, (isa, targets) in {**TARGETS, **OLDER}.items():
            said, takes = {}, {}  # by target, then by line
            for target in targets.split():
                said[target], takes[target] = self.compare(release, isa, target, INSTRUCTIONS + PARTLY)
            for line in INSTRUCTIONS + PARTLY:
                if release in OLDER and not any(each[line] for each in takes.values()):
                    continue  # a newer PTX ISA brought it, or `a` and `f` targets alone have it
                if release in OLDER and ".shared .b8 t[" in line:
                    continue  # 12.4 and 12.5 do not count what no instruction names
                # sm_89 got these with PTX ISA 8.1, sm_90 with 7.8.
                partly = line in PARTLY or (release in OLDER and re.search("e4m3|e5m2", line))
                for target in targets.split():
                    took = takes[target][line]
                    with self.subTest(line, target=target, release=release):
                        if took or not partly:
                            self.assertEqual(said[target][line], 0 if took else 218)
                    taken += took
                    refused += not took
        self.assertGreater(refused, 1500)
        self.assertGreater(taken, 1500)

    def test_kernels_at_once(self):
        """What ptxas says of kernels in one file, it says of each of them alone; also of those that it calls unknown."""
        lines = INSTRUCTIONS + PARTLY
        for release, isa, target in (("13.5", "9.2", "90"), ("11.8", "7.8", "80")):
            alone = {line for line in lines if self.assemble(release, target, head_of(isa, target) + kernel(line)).returncode == 0}
            with self.subTest(release=release):
                self.assertEqual(self.taken(release, isa, target, [line for line in lines if line not in self.unknown(release)]), alone)

    def test_directives(self):
        refused = 0
        for release, (isa, targets) in {**TARGETS, "13.0": ("9.0", "75 80 90 120a")}.items():
            for target in targets.split():
                head = ".version %s\n.target sm_%s\n.address_size 64\n.entry other() { ret; }\n" % (isa, target)
                lines = [line for line in DIRECTIVES if ".abi_" not in line or isa >= "9"]
                paths = [self.write("d%s_%s_%d.ptx" % (release, target, i), head + line + "\n") for i, line in enumerate(lines)]
                number = target.rstrip("af")
                said = codes(paths, number[:-1] + "." + number[-1] + "@" + release)
                for line, path in zip(lines, paths):
                    done = subprocess.run([ptxas(release), "-arch=sm_" + target, path, "-o", path + ".cubin"], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL, timeout=60)
                    with self.subTest(line, target=target, release=release):
                        self.assertEqual(said[path] == 0, done.returncode == 0)
                    refused += done.returncode != 0
        self.assertGreater(refused, 100)

    def test_builtin_functions(self):
        """Functions that compilers bring along, each from its release on: src/image/builtin_functions.cc."""
        refused = 0
        for release in "11.7 11.8 12.0 12.2 12.3 12.4 13.0 13.2 13.3 13.4 13.5".split():
            paths = [self.write("f%s_%s.ptx" % (release, name), ".version 7.0\n.target sm_80\n.address_size 64\n.extern .func %s();\n"
                                ".entry k() { call.uni %s; ret; }\n" % (name, name)) for name in FUNCTIONS]
            said = codes(paths, "8.0@" + release)
            for name, path in zip(FUNCTIONS, paths):
                done = subprocess.run([ptxas(release), "-arch=sm_80", path, "-o", path + ".cubin"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=60)
                with self.subTest(name, release=release):
                    self.assertEqual(said[path], 0 if done.returncode == 0 else 218)
                refused += done.returncode != 0
        self.assertGreater(refused, 80)

    def test_shuffles_without_sync(self):
        """Gone from sm_70 and ISA 6.4 on."""
        statements = {"shfl": "shfl.up.b32 %r1, %r2, 1, 0;", "shfl.sync": "shfl.sync.up.b32 %r1, %r2, 1, 0, -1;",
                      "vote": "vote.ballot.b32 %r1, %p1;", "vote.sync": "vote.sync.ballot.b32 %r1, %p1, -1;"}
        refused = 0
        for isa, target in (("6.3", "60"), ("6.4", "60"), ("7.5", "60"), ("6.3", "70"), ("6.4", "70"), ("7.5", "70"), ("7.5", "75")):
            for name, statement in statements.items():
                path = self.write("%s_%s_%s.ptx" % (name, isa, target),
                                  ".version %s\n.target sm_%s\n.address_size 64\n.entry k() {\n.reg .b32 %%r<3>; .reg .pred %%p<2>;\n%s\n"
                                  "ret;\n}\n" % (isa, target, statement))
                done = subprocess.run([ptxas("12.4"), "-arch=sm_" + target, path, "-o", path + ".cubin"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=60)
                with self.subTest(name, isa=isa, target=target):
                    said = codes([path], target[0] + "." + target[1] + "@12.4")[path]
                    self.assertEqual(said, 0 if done.returncode == 0 else 218)
                refused += done.returncode != 0
        self.assertEqual(refused, 6)

    def test_shared_memory_by_release(self):
        """ptxas of 12.4 to 12.6 takes a kernel of more than 48 KB; on drivers of these it is unknown, which is no number."""
        path = self.write("shared.ptx", head_of("7.0", "80") + ".entry k() { .shared .align 4 .b8 s[50000]; .reg .b64 %d; mov.u64 %d, s;\n"
                          ".reg .b32 %r; ld.shared.b32 %r, [%d]; st.shared.b32 [%d+4], %r; ret; }\n")
        taken = []
        for release in "11.7 11.8 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5".split():
            done = subprocess.run([ptxas(release), "-arch=sm_80", path, "-o", path + ".cubin"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=60)
            taken += [release] if done.returncode == 0 else []
            with self.subTest(release):
                self.assertEqual(codes([path], "8.0@" + release)[path], None if done.returncode == 0 else 218)
        self.assertEqual(taken, ["12.4", "12.5", "12.6"])

    def test_what_compilers_disagree_on(self):
        """Forms and pragmas of a newer ISA that compilers of some releases take, or ignore, in an older module: unknown there, which is
        no number, and without a driver."""
        for line, isa, target, taken in (("fence.acquire.gpu", "8.4", "90", "12.8 12.9 13.0"), ("fence.release.cta", "8.4", "90", "12.8 12.9 13.0"),
                                         ('.pragma "used_bytes_mask 4095"', "7.8", "80", "12.0 12.2"),
                                         ('.pragma "enable_smem_spilling"', "7.8", "80", "12.0 12.2 12.3 12.4 12.6"),
                                         ('.pragma "frequency 10"', "7.8", "80", "12.0 12.2 12.3 12.4 12.6 12.8 12.9")):
            path = self.write("disagree.ptx", head_of(isa, target) + kernel(line))
            device = target[0] + "." + target[1]
            self.assertIsNone(codes([path], device)[path])
            for release in "12.0 12.2 12.3 12.4 12.6 12.8 12.9 13.0 13.1 13.5".split():
                if isa == "8.4" and release in ("12.0", "12.2", "12.3"):
                    continue
                done = self.assemble(release, target, head_of(isa, target) + kernel(line))
                with self.subTest(line, release=release):
                    self.assertEqual(done.returncode == 0, release in taken.split())
                    self.assertEqual(codes([path], device + "@" + release)[path], None if done.returncode == 0 else 218)

    def test_device_side_synchronization(self):
        """Where no compiler takes it, 225; where only a linker is wanted, 218."""
        body = {"called": "call (r), cudaDeviceSynchronize;", "its address": "mov.u64 %d, cudaDeviceSynchronize;", "unused": ""}
        for name, statement in body.items():
            text = (".version 7.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
                    ".entry k() { .param .b32 r; .reg .b64 %d; " + statement + " ret; }\n")
            path = self.write(name + ".ptx", text)
            for device in ("8.0", "8.9", "9.0", "12.0"):
                done = subprocess.run([ptxas("13.5"), "-c", "-arch=sm_" + device.replace(".", ""), path, "-o", path + ".cubin"],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
                with self.subTest(name, device=device):
                    said = codes([path], device + "@13.5")[path]
                    self.assertEqual(said == 225, done.returncode != 0)
                    self.assertEqual(said == 225, "Unsupported Function 'cudaDeviceSynchronize'" in done.stdout)

    def test_lto_ir(self):
        """Objects of LTO-IR are covered where nvJitLink links them for the device."""
        found = glob.glob(os.path.join(common.options.cache, "nvjitlink-13.0", "**", "libnvJitLink.so.*"), recursive=True)
        if not found:
            raise unittest.SkipTest("no nvJitLink; run tests/support/fetch nvjitlink-13.0")
        library = ctypes.CDLL(found[0])
        create, add, complete = [getattr(library, "__nvJitLink" + name + "_13_0") for name in ("Create", "AddData", "Complete")]
        add.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]

        def links(data, target):
            handle = ctypes.c_void_p()
            options = (ctypes.c_char_p * 2)(b"-arch=sm_" + target.encode(), b"-lto")
            return (create(ctypes.byref(handle), 2, options) == 0 and
                    add(handle, 5, data, len(data), b"k.o") == 0 and complete(handle) == 0)

        source = self.write("k.cu", "__global__ void k(float* p) { *p = 1; }\n")
        for arch in ("80", "90a", "100f", "100a"):
            path = os.path.join(self.folder, "k%s.o" % arch)
            common.run([common.nvcc(), "-rdc=true", "-dc", "-gencode", "arch=compute_%s,code=lto_%s" % (arch, arch), source, "-o", path])
            with open(path, "rb") as file:
                data = file.read()
            for device in ("75", "80", "86", "87", "89", "90", "100", "103", "110", "120"):
                linked = any(links(data, device + suffix) for suffix in ([""] if device < "90" and len(device) == 2 else ["", "a"]))
                with self.subTest(arch, device=device):
                    self.assertEqual(codes([path], device[:-1] + "." + device[-1])[path] == 0, linked)


class OldModulesTest(Asked):
    def test_older_modules(self):
        """An instruction that came with a newer PTX ISA than the module's own is refused, whatever the driver."""
        refused = 0
        for isa, targets in OLD_MODULES:
            for target in targets.split():
                said, takes = self.compare("13.5", isa, target, INSTRUCTIONS + PARTLY)
                for line in INSTRUCTIONS + PARTLY:
                    with self.subTest(line, target=target, isa=isa):
                        if takes[line] or line not in PARTLY:
                            self.assertEqual(said[line], 0 if takes[line] else 218)
                    refused += not takes[line]
        self.assertGreater(refused, 1500)


if __name__ == "__main__":
    sys.exit(common.main())
