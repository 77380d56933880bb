"""What bodies of PTX hold and its target does not have is error 218 where ptxas refuses it, and covered where ptxas takes it.

For each instruction of the table in src/image/ptx_limits.cc one that is whole, for each target of TARGETS; LTO-IR and device-side
synchronization are compared with nvJitLink.
"""
import concurrent.futures
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import common

# By release: its PTX ISA, and targets.
TARGETS = {"13.5": ("9.2", "75 80 90 90a 100 100a 100f 103 110a 120 120a 120f 121a"), "12.9": ("8.8", "50 52 60 61 70 80 90a 100 101a")}
DECLARED = """.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
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
.shared .b8 t[48128]
.shared .b8 t[48129]
.shared .b8 t[30000], u[30000]
{ .shared .b8 t[30000]; } { .shared .v4 .b32 u[40][64]; }
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


class PtxLimitsTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_bodies(self):
        refused = taken = 0
        for release, (isa, targets) in TARGETS.items():
            assembler = ptxas(release)

            def assembles(path, target):
                return subprocess.run([assembler, "-arch=sm_" + target, path, "-o", path + ".cubin"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=60).returncode == 0

            for target in targets.split():
                head = ".version %s\n.target sm_%s\n.address_size 64\n" % (isa, target)
                paths = [self.write("%s_%s_%d.ptx" % (release, target, i),
                                    head + ".entry k() {\n" + DECLARED + line + ("" if line[0] == "{" else ";") + "\nret;\n}\n")
                         for i, line in enumerate(INSTRUCTIONS)]
                number = target.rstrip("af")
                said = codes(paths, number[:-1] + "." + number[-1] + "@" + release)
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    takes = list(pool.map(lambda path: assembles(path, target), paths))
                for line, path, took in zip(INSTRUCTIONS, paths, takes):
                    with self.subTest(line, target=target, release=release):
                        self.assertEqual(said[path], 0 if took else 218)
                taken += sum(takes)
                refused += len(takes) - sum(takes)
        self.assertGreater(refused, 300)
        self.assertGreater(taken, 300)

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
        for release in "11.7 11.8 12.0 12.2 12.3 12.4 13.0 13.5".split():
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


if __name__ == "__main__":
    sys.exit(common.main())
