"""Programs, libraries and an extension module that carry the preflight, on played machines."""
import itertools
import os
import shutil
import subprocess
import sys
import sysconfig

import played
from played import A, F, H100, KERNEL, LTOIR, MANAGED, PTX, RELOC_PTX, SASS, T4, VARIABLE, WRAP, WRAP_ALL, WRAP_FATBIN, ZSTD, cubin_of, driver, fatbin, image, options

H100_2 = "cc=9.0 uuid=GPU-22333333-2222-2222-2222-222222222222 pci=0000:5B:00.0 name=NVIDIA H100"
A100_MIG = "cc=8.0 mig=1 uuid=GPU-44444444-4444-4444-4444-444444444444 pci=0000:6B:00.0 name=NVIDIA A100"
ORDER = "CUDA_DEVICE_ORDER"
VISIBLE = "CUDA_VISIBLE_DEVICES"

USUAL = [fatbin(image(SASS, 80), image(SASS, 86), image(SASS, 90), image(PTX, 90, (8, 0)))]
HELD = "app 2.1 holds code for 8.0, 8.6, 9.0 and PTX 9.0"
GOOD = "1 0 0 1|\n"  # SASS


class Programs(played.Played):
    number = itertools.count()
    compiler, standard, flags, preload = "gcc", ["-std=c11"], [], True  # `standard`: of the preflight and of what asks it

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which(cls.compiler) is None:
            raise cls.skipTest(cls, "no " + cls.compiler)

    def compile(self, source, name, *more):
        output = self.folder / name
        own = source.name in ("probe.c", "archguard_preflight.c", "lib.c")
        self.run_tool(self.compiler, *(self.standard if own else ["-std=c11", "-x", "c"]), "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", *self.flags,
                      "-I", options.preflight, *more, "-c", source, "-o", output)
        return output

    def once(self, source, name, *more):
        return self.folder / name if (self.folder / name).exists() else self.compile(source, name, *more)

    def objects(self, *more):
        """The parts that every program has: what it asks with, the preflight, the runtime."""
        tag = "".join(more).translate({ord(c): "_" for c in ' "=.'})
        return [self.once(played.HERE / "probe.c", "probe.o"),
                self.once(options.preflight / "archguard_preflight.c", "preflight%s.o" % tag[:60],
                          *([] if "PROGRAM" in tag else ['-DARCHGUARD_PREFLIGHT_PROGRAM="app 2.1"']), *more),
                self.once(played.HERE / "cudart.c", "cudart.o")]

    def code(self, fatbins, links=(), asks=()):
        name = "code%d" % next(self.number)
        (self.folder / (name + ".c")).write_text(played.source_of(fatbins, links, asks))
        return self.compile(self.folder / (name + ".c"), name + ".o")

    def link(self, *parts):
        output = self.folder / ("program%d" % next(self.number))
        self.run_tool(self.compiler, *self.flags, *parts, "-o", output, "-ldl", "-lpthread")
        return output

    def build(self, fatbins, links=(), runtime=None, wrap=WRAP, more=(), **keywords):
        probe, preflight, cudart = self.objects(*keywords.get("defined", ()))
        if runtime:
            cudart = self.once(played.HERE / "cudart.c", "cudart%d.o" % runtime, "-DRUNTIME=%d" % runtime)
        return self.link(probe, preflight, self.code(fatbins, links, keywords.get("asks", ())), cudart, *wrap, *more)

    def ask(self, program, machine, *words, **keywords):
        out, err = self.start([program, *words], machine, preload=self.preload, **keywords)
        self.assertEqual(err, "")
        return out

    def says(self, program, machine, expected, *words, **keywords):
        self.assertEqual(self.ask(program, machine, *words, **keywords).split("\n")[0], expected)

    def usual(self):
        return self.__dict__.setdefault("usual_program", None) or self.build(USUAL)

    # ---- what a user reads ----

    def test_good_is_silent(self):
        program = self.usual()
        self.assertEqual(self.ask(program, driver(12040, "550.54.15", H100)), GOOD + "  9.0 NVIDIA H100 1 0|\n")

    def test_209(self):
        self.says(self.usual(), driver(12040, "550.54.15", T4), "4 209 0 0|%s; this machine has a Tesla T4 (7.5), driver CUDA 12.4: "
                  "it needs a build with 75-real" % HELD)

    def test_what_is_needed_is_said_whatever_is_held(self):
        name = "n" * 300
        program = self.build([fatbin(*[image(SASS, 100 + i % 30, flags=A) for i in range(500)], image(PTX, 90, (8, 0)))],
                             defined=('-DARCHGUARD_PREFLIGHT_PROGRAM="%s"' % name,))
        out = self.ask(program, driver(12040, "550.54.15", "cc=7.5 name=" + "N" * 90)).split("\n")[0]
        self.assertTrue(out.startswith("4 209 0 0|" + "n" * 128 + " holds code for 10.0a, 10.1a, "), out)
        self.assertTrue(out.endswith("12.3a and 477 more images; this machine has a %s (7.5), driver CUDA 12.4: it needs a build with 75-real" % ("N" * 90)), out)

    def test_names_have_their_article(self):
        for name, article in (("A100", "an"), ("NVIDIA A100", "an"), ("H100", "an"), ("L40S", "an"), ("RTX 4000", "an"), ("Orin", "an"), ("GH200", "a"),
                              ("Tesla T4", "a"), ("Quadro P400", "a"), ("T4", "a"), ("B300", "a"), ("NN", "a")):
            self.assertIn("this machine has %s %s (7.5)" % (article, name), self.ask(self.usual(), driver(12040, "1", "cc=7.5 name=" + name)))

    def test_the_gravest_device_counts(self):
        out = self.ask(self.usual(), driver(12040, "550.54.15", H100, T4))
        self.assertEqual(out.split("|")[0], "4 209 0 0")
        self.assertIn("\n  9.0 NVIDIA H100 1 0|\n  7.5 Tesla T4 4 209|" + HELD, out)

    def test_ptx_is_good_and_slow(self):
        out = self.ask(self.usual(), driver(12080, "570.1", "cc=12.0 name=RTX 5090"))
        self.assertEqual(out, "2 0 0 1|\n  12.0 RTX 5090 2 0|%s; this machine has an RTX 5090 (12.0), driver CUDA 12.8: the driver "
                         "compiles its PTX, so the first start is slow\n" % HELD)

    def test_222(self):
        program = self.build([fatbin(image(SASS, 80), image(PTX, 80, (8, 7)))])
        self.says(program, driver(12040, "550.54.15", H100), "4 222 0 0|app 2.1 holds code for 8.0 and PTX 8.0; this machine has an NVIDIA "
                  "H100 (9.0), driver CUDA 12.4: its PTX has ISA 8.7, which this driver does not compile: it needs a driver of "
                  "CUDA 12.8 or newer, or a build with 90-real")

    def test_the_highest_isa(self):
        for isa in ((32768, 0), (65535, 65535)):
            program = self.build([fatbin(image(PTX, 80, isa))])
            self.says(program, driver(12040, "550.54.15", H100), "4 222 0 0|app 2.1 holds code for PTX 8.0; this machine has an NVIDIA H100 (9.0), driver "
                      "CUDA 12.4: its PTX has ISA %d.%d, which this driver does not compile: it needs a build with 90-real" % isa)

    def test_no_newer_driver_is_named_where_there_is_none(self):
        program = self.build([fatbin(image(PTX, 60, (9, 1)))])
        self.says(program, driver(13000, "580.1", "cc=6.1 name=Quadro P400"), "4 222 0 0|app 2.1 holds code for PTX 6.0; this machine has "
                  "a Quadro P400 (6.1), driver CUDA 13.0: its PTX has ISA 9.1, which this driver does not compile: it needs a "
                  "build with 61-real")

    def test_200_for_zstd(self):
        program = self.build([fatbin(image(SASS, 90, flags=ZSTD, payload=b"x" * 8))])
        self.says(program, driver(12020, "535.1", H100), "4 200 0 0|app 2.1 holds code for 9.0; this machine has an NVIDIA H100 (9.0), driver "
                  "CUDA 12.2: its image is compressed with zstd, which this driver does not know: it needs a driver of CUDA 12.4 "
                  "or newer, or a build with --compress-mode=speed")

    def test_35_comes_before_222(self):
        program = self.build([fatbin(image(PTX, 80, (9, 0)))], runtime=13000)
        self.says(program, driver(12040, "550.54.15", H100), "4 35 0 0|app 2.1 uses the CUDA runtime 13.0; this machine has an NVIDIA H100 "
                  "(9.0), driver CUDA 12.4: it needs a driver of CUDA 13.0 or newer, or a build with CUDA 12.4")

    def test_a_new_driver_is_not_all(self):
        """What would fail behind the update, too; and what the program's own toolkit does not make."""
        old = driver(12040, "550.54.15", H100, "cc=6.1 name=Quadro P400", "cc=12.0 name=RTX 5090", "cc=10.3 name=B300")
        at_85 = [fatbin(image(SASS, 80), image(SASS, 120))]
        ask = lambda program, machine: [line.split(": ", 1)[1] for line in self.ask(program, machine).split("\n")[1:-1]]
        self.assertEqual(ask(self.build(at_85, runtime=13000), old), [
            "it needs a driver of CUDA 13.0 or newer and a build with 90-real, or a build with CUDA 12.4 and 90-real",
            "it needs a build with CUDA 12.4 and 61-real",
            "it needs a driver of CUDA 13.0 or newer, or a build with CUDA 12.9 and 120-real",
            "it needs a driver of CUDA 13.0 or newer and a build with 103-real, or a build with CUDA 12.9 and 103-real"])
        # Error 209 under a runtime whose toolkit is too new or too old for it.
        new = driver(13000, "580.1", H100, "cc=6.1 name=Quadro P400", "cc=10.3 name=B300")
        self.assertEqual(ask(self.build([fatbin(image(SASS, 80))], runtime=13000), new),
                         ["it needs a build with 90-real", "it needs a build with CUDA 12.9 and 61-real", "it needs a build with 103-real"])
        self.assertEqual(ask(self.build([fatbin(image(SASS, 80))], runtime=12080), new),
                         ["it needs a build with 90-real", "it needs a build with 61-real", "it needs a build with CUDA 12.9 and 103-real"])
        # A fat binary that a newer driver takes, beside one that it does not.
        isa = fatbin(image(PTX, 80, (8, 7)))
        self.assertIn("its PTX has ISA 8.7, which this driver does not compile: it needs a build with 90-real",
                      self.ask(self.build([isa, fatbin(image(SASS, 80))]), driver(12040, "550.54.15", H100)))
        self.assertIn("which this driver does not compile: it needs a driver of CUDA 13.0 or newer, or a build with 90-real",
                      self.ask(self.build([isa, fatbin(image(PTX, 80, (9, 0)))]), driver(12040, "550.54.15", H100)))

    def test_environment_of_the_jit(self):
        ptx, sass = self.build([fatbin(image(PTX, 80, (8, 0)))]), self.build([fatbin(image(SASS, 90))])
        machine = driver(12040, "550.54.15", H100)
        self.says(ptx, machine, "4 223 0 0|app 2.1 holds code for PTX 8.0; this machine has an NVIDIA H100 (9.0), driver CUDA 12.4: only its "
                  "PTX fits, which CUDA_DISABLE_PTX_JIT or CUDA_DISABLE_JIT forbids to compile: it needs a build with 90-real, or "
                  "that variable unset", CUDA_DISABLE_PTX_JIT="1")
        self.says(sass, machine, "4 209 0 0|app 2.1 holds code for 9.0; this machine has an NVIDIA H100 (9.0), driver CUDA 12.4: "
                  "CUDA_FORCE_PTX_JIT or CUDA_FORCE_JIT makes the driver pass over SASS: it needs a build with 90-virtual, or "
                  "that variable unset", CUDA_FORCE_PTX_JIT="1")
        self.assertEqual(self.ask(sass, machine, CUDA_FORCE_PTX_JIT="0").split("|")[0], "1 0 0 1")

    def test_each_fat_binary_is_judged(self):
        program = self.build(USUAL + [fatbin(image(SASS, 80)), fatbin(image(SASS, 90, flags=A))])
        self.says(program, driver(12040, "550.54.15", H100), "4 209 0 0|app 2.1 holds code for 8.0 (1 of 3 fat binaries); this machine "
                  "has an NVIDIA H100 (9.0), driver CUDA 12.4: it needs a build with 90-real")
        self.assertEqual(self.ask(self.build(USUAL + [fatbin(image(SASS, 100, flags=A))]), driver(12040, "550.54.15", H100)).split("|")[0],
                         "1 0 0 1")
        # Made for others on purpose, and nothing is for this one.
        self.says(self.build([fatbin(image(SASS, 90, flags=A))]), driver(12040, "550.54.15", T4), "4 209 0 0|app 2.1 holds code for 9.0a; "
                  "this machine has a Tesla T4 (7.5), driver CUDA 12.4: it needs a build with 75-real")

    def test_fat_binaries_that_nothing_is_asked_of(self):
        """nvcc registers one of each source, also where it has neither kernels nor variables."""
        h100, old = driver(12040, "550.54.15", H100), fatbin(image(SASS, 80))
        self.assertEqual(self.ask(self.build([old] + USUAL, asks=["", KERNEL]), h100).split("|")[0], "1 0 0 1")
        for asked in (KERNEL, VARIABLE, MANAGED):
            self.says(self.build([old, old] + USUAL, asks=["", asked]), h100, "4 209 0 0|app 2.1 holds code for 8.0 (1 of 2 fat binaries); this machine "
                      "has an NVIDIA H100 (9.0), driver CUDA 12.4: it needs a build with 90-real")
        # It would be covered by one without kernels.
        self.assertEqual(self.ask(self.build(USUAL + [fatbin(image(SASS, 100, flags=A))], asks=[""]), h100).split("|")[0], "4 209 0 0")
        # Where kernels are registered later.
        self.assertEqual(self.ask(self.build([old] + USUAL, asks=["void **first = handle;", KERNEL + KERNEL.replace("handle", "first")]), h100).split("|")[0],
                         "4 209 0 0")
        # Where that is not seen, nothing is certain that hangs on it.
        for held in ([old] + USUAL, [old], [fatbin(image(SASS, 100, flags=A))] + USUAL):
            out = self.ask(self.build(held, wrap=WRAP_FATBIN), h100)
            self.assertTrue(out.startswith("3 0 0 1|app 2.1 "), out)
            self.assertIn("whether it uses the fat binary that has no code for it is not known: link it with --wrap for __cudaRegisterFunction, "
                          "__cudaRegisterVar, __cudaRegisterManagedVar, __cudaRegisterTexture and __cudaRegisterSurface, too\n", out)
        self.assertEqual(self.ask(self.build(USUAL, wrap=WRAP_FATBIN), h100).split("|")[0], "1 0 0 1")

    # ---- what the machine shows ----

    def test_no_driver(self):
        self.says(self.usual(), "", "4 0 1 0|app 2.1 finds no GPU: there is no NVIDIA driver (libcuda.so.1 is not found)", libraries=())

    def test_kernel_module_not_loaded(self):
        self.says(self.usual(), driver(12040) + "fail nvmlInit_v2 9\n", "4 0 1 0|app 2.1 finds no GPU: the kernel module of the NVIDIA "
                  "driver is not loaded")

    def test_no_gpu(self):
        self.says(self.usual(), driver(12040), "4 100 2 0|app 2.1 finds no GPU: the driver knows none")

    def test_nvml_counts_none_on_a_jetson(self):
        root = self.folder / "jetson/etc"
        root.mkdir(parents=True)
        (root / "nv_tegra_release").write_text("# R36\n")
        if self.preload:
            self.says(self.usual(), driver(12040), "3 0 6 1|app 2.1 cannot tell its GPU: NVML counts none on this Jetson, whose GPU is told only after "
                      "CUDA is initialised", root="jetson")

    def test_hidden_by_the_environment(self):
        machine = driver(12040, "550.54.15", H100, H100_2)
        for value in ("", "-1", "NoDevFiles", "7", "GPU-2", "GPU-9", "99999999999999999999", ","):
            with self.subTest(value):
                self.says(self.usual(), machine, "4 100 3 0|app 2.1 finds no GPU: CUDA_VISIBLE_DEVICES hides every GPU of this machine",
                          CUDA_VISIBLE_DEVICES=value)
        self.says(self.usual(), machine, "4 101 3 0|app 2.1 finds no GPU: CUDA_VISIBLE_DEVICES names a GPU twice, which CUDA refuses",
                  CUDA_VISIBLE_DEVICES="1,1")

    def test_words_that_name_no_gpu(self):
        machine = driver(12040, "550.54.15", H100, H100_2)
        for value in ("gpu-22222222", "abc", "0x1", "+1", "0,all", "-", "1 0", "GPU-"):
            with self.subTest(value):
                self.says(self.usual(), machine, "3 0 6 1|app 2.1 cannot tell its GPU: CUDA_VISIBLE_DEVICES has a word that is neither a number nor begins "
                          "with GPU- or MIG-", CUDA_VISIBLE_DEVICES=value)

    def test_hidden_by_a_container(self):
        root = self.folder / "container/proc/driver/nvidia"
        root.mkdir(parents=True)
        (root / "version").write_text("NVRM version: 550.54.15\n")
        if self.preload:
            self.says(self.usual(), "", "4 0 3 0|app 2.1 finds no GPU: the machine has an NVIDIA driver, and libcuda.so.1 is not here: run the "
                      "container with NVIDIA_DRIVER_CAPABILITIES=compute,utility", libraries=(), root="container")

    def test_stub(self):
        self.says(self.usual(), driver(12040, "1", T4) + "fail cuDriverGetVersion 34\n", "4 34 4 0|app 2.1 finds no GPU: the libcuda.so.1 that is "
                  "found is the CUDA toolkit's stub: take its folder out of LD_LIBRARY_PATH")

    def test_driver_fails(self):
        machine = driver(12040, "550.54.15", T4)
        self.says(self.usual(), machine + "fail nvmlInit_v2 18\n", "4 0 5 0|app 2.1 finds no GPU: the NVIDIA driver was upgraded, and its "
                  "kernel module is still the old one: reboot")
        self.says(self.usual(), machine + "fail nvmlInit_v2 999\n", "3 0 6 1|app 2.1 cannot tell its GPU: nvmlInit gives NVML error 999 "
                  "(played error 999), and CUDA tells it only once it is initialised")
        self.says(self.usual(), machine + "fail nvmlDeviceGetCount_v2 15\n", "3 0 6 1|app 2.1 cannot tell its GPU: nvmlDeviceGetCount "
                  "gives NVML error 15 (played error 15), and CUDA tells it only once it is initialised")
        self.says(self.usual(), machine + "fail cuDriverGetVersion 999\n", "4 999 5 0|app 2.1 finds no GPU: cuDriverGetVersion of the "
                  "driver gives error 999")
        self.says(self.usual(), machine + "fail nvmlDeviceGetCudaComputeCapability 3\n", "3 0 0 1|app 2.1 cannot be judged; this machine has a "
                  "Tesla T4, driver CUDA 12.4: its compute capability is not told")
        self.says(self.usual(), machine + "fail nvmlDeviceGetHandleByIndex_v2 3\n", "3 0 0 1|app 2.1 cannot be judged; this machine has a GPU, "
                  "driver CUDA 12.4: its compute capability is not told")
        self.assertEqual(self.ask(self.usual(), driver(7, "x", H100)).split("|")[0], "3 0 0 1")

    def test_without_nvml(self):
        program, machine = self.usual(), driver(12060, "540.4.0", "cc=8.7 name=Orin (nvgpu)")
        self.says(program, machine, "3 0 6 1|app 2.1 cannot tell its GPU: NVML (libnvidia-ml.so.1) is not here, so GPUs are told only after "
                  "CUDA is initialised", libraries=("cuda",))
        if self.preload:
            out = self.ask(program, machine, "init", libraries=("cuda",))
            self.assertIn("this machine has an Orin (nvgpu) (8.7), driver CUDA 12.6: it needs a build with 87-real", out)

    def test_visible_devices(self):
        machine = driver(12040, "550.54.15", T4, H100, H100_2)
        h100, t4 = "1 0 0 1|", "4 209 0 0|"
        for value, order, expected in (
                ("1", "PCI_BUS_ID", h100), ("0", "PCI_BUS_ID", t4), ("2,1", "PCI_BUS_ID", h100), ("1,9,0", "PCI_BUS_ID", h100), ("1, 2", "PCI_BUS_ID", h100),
                ("0,1,2", None, t4), ("GPU-222", None, h100), ("GPU-22222222-2222-2222-2222-222222222222,GPU-223", None, h100), ("GPU-1", None, t4),
                ("1", None, "3 0 6 1|"), ("1", "FASTEST_FIRST", "3 0 6 1|")):
            with self.subTest(value, order=order):
                more = {VISIBLE: value, **({ORDER: order} if order else {})}
                self.assertEqual(self.ask(self.usual(), machine, **more).split("|")[0] + "|", expected)
        self.says(self.usual(), machine, "3 0 6 1|app 2.1 cannot tell its GPU: CUDA_VISIBLE_DEVICES counts GPUs that differ by their speed, an "
                  "order that only CUDA knows once it is initialised: set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name them by UUID", CUDA_VISIBLE_DEVICES="1")
        out = self.ask(self.usual(), driver(12040, "550.54.15", H100, H100_2), CUDA_VISIBLE_DEVICES="1")  # equal GPUs
        self.assertEqual(out, GOOD + "  9.0 NVIDIA H100 1 0|\n")

    def test_gpus_that_nvml_does_not_open(self):
        """Those without permission are no GPUs of this process, to CUDA neither; of others nobody knows."""
        t4, lost = "handle=4 " + T4, "handle=15 " + T4
        for value in ({}, {VISIBLE: "0"}, {VISIBLE: "GPU-2222"}):
            self.assertEqual(self.ask(self.usual(), driver(12040, "550.54.15", t4, H100), **value), GOOD + "  9.0 NVIDIA H100 1 0|\n")
        self.assertEqual(self.ask(self.usual(), driver(12040, "550.54.15", t4, H100), CUDA_VISIBLE_DEVICES="1").split("|")[0], "4 100 3 0")
        self.says(self.usual(), driver(12040, "550.54.15", t4), "3 0 6 1|app 2.1 cannot tell its GPU: this process may open none of the machine's GPUs "
                  "(NVML error 4)")
        self.says(self.usual(), driver(12040, "550.54.15", lost, H100), "3 0 6 1|app 2.1 cannot tell its GPU: CUDA_VISIBLE_DEVICES counts GPUs, and NVML "
                  "does not open each of them", CUDA_VISIBLE_DEVICES="1", CUDA_DEVICE_ORDER="PCI_BUS_ID")
        self.says(self.usual(), driver(12040, "550.54.15", H100) + "fail nvmlDeviceGetUUID 4\n", "3 0 6 1|app 2.1 cannot tell its GPU: "
                  "CUDA_VISIBLE_DEVICES names a UUID, and NVML does not tell that of each GPU", CUDA_VISIBLE_DEVICES="GPU-22222222-2222")

    def test_more_gpus_than_the_report_holds(self):
        many = ["cc=9.0 uuid=GPU-%08d-0000-0000-0000-000000000000 pci=0000:%02X:00.0 name=NVIDIA H100" % (i, i) for i in range(40)]
        machine = driver(12040, "550.54.15", *many)
        self.says(self.usual(), machine, "3 0 0 1|app 2.1 cannot be judged: this machine has 40 GPUs, and 32 are looked at: name them with "
                  "CUDA_VISIBLE_DEVICES")
        self.says(self.usual(), machine, "1 0 0 1|", CUDA_VISIBLE_DEVICES="39,GPU-00000002")
        # One that is looked at and fails is more to say.
        self.assertIn("4 209 0 0|", self.ask(self.usual(), driver(12040, "550.54.15", T4, *many)))
        self.says(self.usual(), machine, "cuInit 0", "init")
        self.assertIn("this machine has 40 GPUs", self.ask(self.usual(), machine, "init"))

    def test_partitioned(self):
        machine = driver(12040, "550.54.15", T4, A100_MIG)
        out = self.ask(self.usual(), machine)  # a process sees the instance alone
        self.assertEqual(out, GOOD + "  8.0 NVIDIA A100 1 0|\n")
        for value in ("MIG-44444444-4444-4444-4444-4444444444bb", "MIG-4444", "MIG-GPU-44444444-4444-4444-4444-444444444444/1/0"):
            with self.subTest(value):
                self.assertEqual(self.ask(self.usual(), machine, CUDA_VISIBLE_DEVICES=value), out)
        self.assertEqual(self.ask(self.usual(), machine, CUDA_VISIBLE_DEVICES="MIG-5").split("|")[0], "4 100 3 0")
        for value in ("0,1", "GPU-4444,GPU-1"):
            self.assertEqual(self.ask(self.usual(), machine, CUDA_VISIBLE_DEVICES=value, CUDA_DEVICE_ORDER="PCI_BUS_ID"), out)

    def test_partitioned_gpus_that_differ_or_are_empty(self):
        h100 = "mig=1 " + H100
        self.says(self.usual(), driver(12040, "550.54.15", A100_MIG, h100), "3 0 6 1|app 2.1 cannot tell its GPU: CUDA shows one instance of its "
                  "partitioned GPUs (MIG), and they differ: name one in CUDA_VISIBLE_DEVICES")
        empty = "instances=0 " + A100_MIG
        self.says(self.usual(), driver(12040, "550.54.15", empty), "3 0 6 1|app 2.1 cannot tell its GPU: its GPU is partitioned (MIG), and NVML shows no "
                  "instance: nvidia-smi mig -lgi")
        self.assertIn("4 209 0 0|", self.ask(self.usual(), driver(12040, "550.54.15", empty, T4)))
        self.assertEqual(self.ask(self.usual(), driver(12040, "550.54.15", empty, T4), CUDA_VISIBLE_DEVICES="MIG-GPU-44444444-4444-4444-4444-444444444444/1/0")
                         .split("|")[0], "4 100 3 0")

    def test_initialised_driver_is_asked_and_never_initialised(self):
        machine = driver(12040, "550.54.15", T4, H100) + "fail nvmlInit_v2 999\n"
        out = self.ask(self.usual(), machine, "init", CUDA_VISIBLE_DEVICES="1")
        self.assertEqual(out, "cuInit 0\n" + GOOD + "  9.0 NVIDIA H100 1 0|\n")
        machine = driver(12040, "550.54.15", H100) + "crash cuInit\n"
        self.assertEqual(self.ask(self.usual(), machine), GOOD + "  9.0 NVIDIA H100 1 0|\n")
        self.assertEqual(self.ask(self.usual(), machine, "fork"), GOOD + "  9.0 NVIDIA H100 1 0|\n")

    # ---- bad input ----

    def test_broken_bytes(self):
        machine, usual = driver(12040, "550.54.15", H100), USUAL[0]
        entry = usual[16:]

        def changed(at, data):
            return usual[:at] + data + usual[at + len(data):]

        for name, data, reason in (
                ("no fat binary", b"\0" * 64, "what was registered is no fat binary"),
                ("old magic", fatbin(image(SASS, 90), magic=0x1EE55A01), "what was registered is no fat binary"),
                ("version", changed(4, b"\2\0"), "it has a version that is not known"),
                ("cut", fatbin(image(SASS, 90), more=1 << 40), "it is cut"),
                ("odd size", changed(8, b"\1"), "it is cut"),
                ("huge", changed(8, b"\xf8" + b"\xff" * 7), "it is cut"),
                ("header size 0", changed(16 + 4, b"\0\0\0\0"), "its entries are broken"),
                ("header size odd", changed(16 + 4, b"\x41\0\0\0"), "its entries are broken"),
                ("payload too long", changed(16 + 8, b"\xf8" + b"\xff" * 7), "its entries are broken"),
                ("half an entry", fatbin(entry[:32]), "its entries are broken"),
                ("kind", fatbin(image(0x55, 90)), "it holds an image that is not understood"),
                ("entry version", fatbin(image(SASS, 80, version=0x0102)), "it holds an image that is not understood"),
                ("flag", fatbin(image(SASS, 80, flags=1 << 40)), "it holds an image that is not understood"),
                ("both suffixes", fatbin(image(SASS, 80, flags=A | F)), "it holds an image that is not understood"),
                ("arch", fatbin(image(SASS, 5)), "it holds an image that is not understood"),
                ("cubin version", fatbin(image(SASS, 80, (1, 9))), "it holds an image that is not understood"),
                ("relocatable PTX", fatbin(image(RELOC_PTX, 80, (8, 0))), "what a driver does with PTX of -reloc-ptx is not known")):
            with self.subTest(name):
                out = self.ask(self.build([data]), machine)
                self.assertTrue(out.startswith("3 0 0 1|app 2.1 "), out)
                self.assertTrue(out.split("\n")[0].endswith("driver CUDA 12.4: " + reason), out)
        # The very image for the device is taken, whatever stands beside it.
        self.assertEqual(self.ask(self.build([fatbin(image(0x55, 90), image(SASS, 90))]), machine).split("|")[0], "1 0 0 1")

    def test_wrapper_that_is_none(self):
        (self.folder / "wrapper.c").write_text("""
            void **__cudaRegisterFatBinary(void *);
            static unsigned none[6], next[4] = {0x466243b1, 3, 0, 0}, far[4] = {0x466243b1, 1, 64, 0};
            void __cudaRegisterVar(void **, char *, char *, const char *, int, unsigned long, int, int);
            static void start_one(void *wrapper) { __cudaRegisterVar(__cudaRegisterFatBinary(wrapper), 0, 0, 0, 0, 7, 0, 0); }
            __attribute__((constructor)) static void start(void) {
              start_one(none); start_one(next); start_one(far); start_one(0); start_one((void *)16); }""")
        probe, preflight, cudart = self.objects()
        program = self.link(probe, preflight, self.compile(self.folder / "wrapper.c", "wrapper.o"), cudart, *WRAP)
        self.says(program, driver(12040, "550.54.15", H100), "3 0 0 1|app 2.1 cannot be judged; this machine has an NVIDIA H100 (9.0), driver "
                  "CUDA 12.4: what was registered is no fat binary")

    def test_nothing_registered(self):
        machine = driver(12040, "550.54.15", H100)
        for program in (self.build([]), self.build([fatbin(image(SASS, 80))], asks=[""])):
            self.says(program, machine, "3 0 0 1|app 2.1 cannot be judged; this machine has an NVIDIA H100 (9.0), driver CUDA 12.4: it registered "
                      "no device code of its own")
        # Its kernels are a library's: it has nothing to say, but where there is no GPU.
        for action, status in (("WARN", 0), ("EXIT", 1)):
            program = self.build([], wrap=WRAP_ALL, defined=("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_" + action,))
            self.assertIn("3 0 0 1|", self.ask(program, machine, "malloc"))
            self.assertEqual(self.start([program, "malloc"], driver(12040), status, preload=self.preload)[1],
                             "app 2.1 finds no GPU: the driver knows none\n")
        self.says(self.build([], wrap=()), machine, "3 0 0 1|app 2.1 cannot be judged; this machine has an NVIDIA H100 (9.0), "
                  "driver CUDA 12.4: it registered no device code: link it with --wrap=__cudaRegisterFatBinary, or run archguard preflight-table on "
                  "it where the driver API loads its code")

    def test_without_a_runtime(self):
        """A program that has no CUDA runtime links all the same, and nobody knows what it needs."""
        (self.folder / "ask.c").write_text("""
            #include <stdio.h>
            #include "archguard_preflight.h"
            static struct archguard_preflight_report report;
            int main(void) { archguard_preflight_check(&report); puts(report.sentence); return 0; }""")
        _, preflight, _ = self.objects("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_WARN")
        program = self.link(self.compile(self.folder / "ask.c", "ask.o"), preflight, *WRAP_ALL)
        self.assertIn("it registered no device code of its own", self.ask(program, driver(12040, "550.54.15", H100)))

    # ---- separate compilation ----

    def test_device_link(self):
        linked, a, b = fatbin(image(SASS, 80)), fatbin(image(SASS, 80), image(PTX, 80, (8, 0))), fatbin(image(PTX, 70, (8, 0)))
        machine = driver(12040, "550.54.15", H100)
        out = self.ask(self.build([], [(linked, [a, b])]), machine)
        self.assertEqual(out.split("\n")[0], "2 0 0 1|")
        self.assertIn("the driver links it again from its objects, so the first start is slow", out)
        self.assertEqual(self.ask(self.build([], [(linked, [a, b])]), driver(12040, "1", "cc=8.6 name=A10")).split("|")[0], "1 0 0 1")
        # One object without code for it may be cudadevrt; two cannot.
        self.says(self.build([], [(linked, [a, linked])]), machine, "3 0 0 1|app 2.1 holds code for 8.0; this machine has an NVIDIA H100 (9.0), "
                  "driver CUDA 12.4: one object of its device link has no code for it; whether the others need that one is not known")
        self.says(self.build([], [(linked, [linked, linked])]), machine, "4 0 0 0|app 2.1 holds code for 8.0; this machine has an NVIDIA H100 "
                  "(9.0), driver CUDA 12.4: it needs a build with 90-real")
        self.assertEqual(self.ask(self.build([], [(linked, [fatbin(image(LTOIR, 80))] * 2)]), machine).split("|")[0], "4 0 0 0")
        # Two device links are two.
        self.assertEqual(self.ask(self.build([], [(linked, [a]), (linked, [linked, linked])]), machine).split("|")[0], "4 0 0 0")
        # A relocatable cubin needs a driver that is as new as its toolkit.
        for toolkit, expected in ((124, "2 0 0 1"), (126, "4 0 0 0"), (0, "3 0 0 1")):
            part = fatbin(image(SASS, 90, payload=cubin_of(toolkit)))
            self.assertEqual(self.ask(self.build([], [(linked, [part])]), machine).split("|")[0], expected)

    # ---- kinds of files ----

    def test_linkers_strip_and_kinds_of_programs(self):
        machine = driver(12040, "550.54.15", T4)
        for linker in ("bfd", "gold", "lld", "mold"):
            if shutil.which("ld." + linker if linker != "mold" else "mold") is None:
                continue
            for more in (("-pie",), ("-no-pie",), ("-Wl,--gc-sections",), ("-flto",)):
                if linker == "mold" and self.compiler.startswith("gcc") and more == ("-flto",):
                    continue
                with self.subTest(linker, more=more):
                    program = self.build(USUAL, more=("-fuse-ld=" + linker, *more))
                    self.run_tool("strip", program)
                    self.assertIn(HELD, self.ask(program, machine))

    def test_many_and_threads(self):
        program = self.build(USUAL * 600)
        out = self.ask(program, driver(12040, "550.54.15", H100), "threads")
        self.assertEqual(out, "50\n" * 8 + GOOD + "  9.0 NVIDIA H100 1 0|\n")
        program = self.build(USUAL * 599 + [fatbin(image(SASS, 80))])
        self.assertIn("holds code for 8.0 (1 of 600 fat binaries);", self.ask(program, driver(12040, "550.54.15", H100)))

    def test_actions(self):
        good, bad = driver(12040, "550.54.15", H100), driver(12040, "550.54.15", T4)
        for action, status in (("WARN", 0), ("EXIT", 1)):
            program = self.build(USUAL, wrap=WRAP_ALL, defined=("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_" + action,))
            self.assertEqual(self.ask(program, good, "malloc"), GOOD + "  9.0 NVIDIA H100 1 0|\n")
            out, err = self.start([program, "malloc", "malloc"], bad, status, preload=self.preload)
            self.assertEqual(err, HELD + "; this machine has a Tesla T4 (7.5), driver CUDA 12.4: it needs a build with 75-real\n")
            # Unknown goes on.
            out, err = self.start([program, "malloc"], bad + "fail nvmlDeviceGetCudaComputeCapability 3\n", 0, preload=self.preload)
            self.assertIn("its compute capability is not told\n", err)

    def test_each_action_asks_and_hands_on(self):
        bad = driver(12040, "550.54.15", T4)
        dim = "struct dim { unsigned x, y, z; }; static struct dim grid = {1, 2, 3}, block = {4, 5, 6};"
        launch = "grid.x == 1 && grid.z == 3 && block.y == 5 && kernel == &here && arguments == (void **)&here + 1 && shared == 7 && stream == &here + 2"
        for name, parameters, given, arrives in (
                ("cudaLaunchCooperativeKernel", "const void *kernel, struct dim grid, struct dim block, void **arguments, size_t shared, void *stream",
                 "&here, grid, block, (void **)&here + 1, 7, &here + 2", launch),
                ("cudaLaunchKernelExC", "const void *config, const void *kernel, void **arguments", "&here, &here + 1, (void **)&here + 2",
                 "config == &here && kernel == &here + 1 && arguments == (void **)&here + 2"),
                ("cudaMallocManaged", "void **pointer, size_t size, unsigned flags", "(void **)&here, 7, 9", "pointer == (void **)&here && size == 7 && flags == 9"),
                ("cudaMallocAsync", "void **pointer, size_t size, void *stream", "(void **)&here, 7, &here", "pointer == (void **)&here && size == 7 && stream == &here"),
                ("cudaMemcpyToSymbol", "const void *symbol, const void *source, size_t size, size_t offset, int kind", "&here, &here + 1, 7, 8, 9",
                 "symbol == &here && source == &here + 1 && size == 7 && offset == 8 && kind == 9")):
            with self.subTest(name):
                (self.folder / "has.c").write_text("#include <stddef.h>\n#include <stdint.h>\nuintptr_t here;\n%s\nint %s(%s) { return %s ? 77 : 1; }\n" % (
                    dim, name, parameters, arrives))
                (self.folder / "calls.c").write_text("#include <stddef.h>\n#include <stdint.h>\nextern uintptr_t here;\n%s\nint %s(%s);\nint main(void) { return %s(%s); }\n" % (
                    dim, name, parameters, name, given))
                self.run_tool("gcc", "-fPIC", "-c", "has.c", "calls.c")
                _, preflight, cudart = self.objects("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_WARN")
                code = self.code(USUAL)
                for more, status in (([self.folder / "has.o"], 77), ([self.folder / "none.o"], 3)):
                    (self.folder / "none.c").write_text("#include <stdint.h>\nuintptr_t here;\n")  # a runtime without it
                    self.run_tool("gcc", "-fPIC", "-c", "none.c")
                    program = self.link(self.folder / "calls.o", *more, preflight, code, cudart, *WRAP_ALL)
                    _, err = self.start([program], bad, status, preload=self.preload)
                    self.assertEqual(err, HELD + "; this machine has a Tesla T4 (7.5), driver CUDA 12.4: it needs a build with 75-real\n")
                if self.preload:  # linked without the runtime, which a library beside it has; its `here` is another
                    self.run_tool("gcc", "-shared", "has.o", "-o", "libhas.so")
                    self.start([program], bad, 1, LD_PRELOAD=str(self.folder / "libhas.so"))

    def test_other_threads_wait_for_the_sentence(self):
        (self.folder / "slow.c").write_text("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <pthread.h>
            #include <string.h>
            #include <unistd.h>
            int cudaMalloc(void **, size_t);
            void *dlopen(const char *name, int flags) {
              void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
              if (name != NULL && strstr(name, "nvidia-ml") != NULL) usleep(300000);
              return real(name, flags);
            }
            static void *work(void *unused) {
              void *memory;
              cudaMalloc(&memory, 4);
              _exit(7);
              return unused;
            }
            int main(void) {
              pthread_t thread;
              pthread_create(&thread, NULL, work, NULL);
              work(NULL);
              return 0;
            }""")
        _, preflight, cudart = self.objects("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_WARN")
        program = self.link(self.compile(self.folder / "slow.c", "slow.o"), preflight, self.code(USUAL), cudart, *WRAP_ALL, "-lpthread")
        _, err = self.start([program], driver(12040, "550.54.15", T4), 7, preload=self.preload)
        self.assertIn("this machine has a Tesla T4 (7.5)", err)

    def test_an_action_that_nothing_leads_to(self):
        """Each start says so: without that, the program would be silent on every machine."""
        for action in ("WARN", "EXIT"):
            for wrap, missing in ((WRAP, "__cudaPushCallConfiguration"), ((), "__cudaPushCallConfiguration"), (WRAP_ALL[:-1], "cudaMemcpyToSymbol")):
                program = self.build(USUAL, wrap=wrap, defined=("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_" + action,))
                _, err = self.start([program], driver(12040, "550.54.15", H100), preload=self.preload)
                self.assertEqual(err, "app 2.1 has a preflight with an ACTION that %s does not pass by: link it with --wrap=%s\n" % (missing, missing))

    def test_launch_hands_its_arguments_on(self):
        (self.folder / "launch.c").write_text("""
            #include <stddef.h>
            struct dim { unsigned x, y, z; };
            void **__cudaRegisterFatBinary(void *);
            unsigned __cudaPushCallConfiguration(struct dim, struct dim, size_t, void *);
            int cudaLaunchKernel(const void *, struct dim, struct dim, void **, size_t, void *);
            void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
            int main(void) {
              struct dim grid = {1, 9, 9}, block = {9, 2, 9};
              void *stream = (void *)__cudaRegisterFatBinary(NULL);
              __cudaRegisterVar((void **)stream, 0, 0, 0, 0, 7, 0, 0);
              return (int)__cudaPushCallConfiguration(grid, block, 3, stream) + cudaLaunchKernel(NULL, grid, block, NULL, 3, stream);
            }""")
        _, preflight, cudart = self.objects("-DARCHGUARD_PREFLIGHT_ACTION=ACTION_WARN")
        program = self.link(self.compile(self.folder / "launch.c", "launch.o"), preflight, cudart, *WRAP_ALL)
        _, err = self.start([program], driver(12040, "550.54.15", H100), preload=self.preload)
        self.assertIn("what was registered is no fat binary\n", err)
        self.assertEqual(err.count("\n"), 1)

    def test_shared_library_under_two_programs(self):
        """A library and the program that loads it have a preflight each, and each answers for its own code."""
        probe, preflight, cudart = self.objects()
        (self.folder / "lib.c").write_text("""
            #include <stdlib.h>
            #include "archguard_preflight.h"
            #ifdef __cplusplus
            extern "C"
            #endif
            __attribute__((visibility("default"))) int library_code(void);
            int library_code(void) {
              struct archguard_preflight_report *report = (struct archguard_preflight_report *)malloc(sizeof *report);
              archguard_preflight_check(report);
              const int code = (int)report->code * 1000 + (int)report->fatbins;
              free(report);
              return code;
            }""")
        (self.folder / "caller.c").write_text("""
            #include <stdio.h>
            int library_code(void);
            __attribute__((constructor)) static void start(void) { printf("library %d\\n", library_code()); }""")
        library, caller = self.compile(self.folder / "lib.c", "lib.o"), self.compile(self.folder / "caller.c", "caller.o")
        shared = self.folder / "libcode.so"
        self.run_tool(self.compiler, *self.flags, "-shared", library, preflight, self.code([fatbin(image(SASS, 80)), *USUAL]), cudart, *WRAP, "-o", shared, "-ldl")
        path = ["-L", self.folder, "-lcode", "-Wl,-rpath," + str(self.folder)]
        machine = driver(12040, "550.54.15", H100)
        first = self.link(probe, preflight, self.code(USUAL), cudart, caller, *WRAP, *path)
        self.assertEqual(self.ask(first, machine), "library 209002\n" + GOOD + "  9.0 NVIDIA H100 1 0|\n")
        second = self.link(probe, preflight, self.code([fatbin(image(SASS, 90))] * 3), cudart, caller, *WRAP, *path)
        self.assertEqual(self.ask(second, machine), "library 209002\n" + GOOD + "  9.0 NVIDIA H100 1 0|\n")

    def test_static_program(self):
        if self.flags:
            return
        probe, preflight, cudart = self.objects()
        output = self.folder / "static"
        self.run_tool(self.compiler, probe, preflight, self.code(USUAL), cudart, *WRAP, "-static", "-o", output, "-ldl", "-lpthread")
        # Its dlopen finds a driver only beside its own glibc: it never says that there is none.
        out, _ = self.start([output], driver(12040, "550.54.15", T4), preload=False)
        self.assertRegex(out, r"^(3 0 6 1\|app 2.1 cannot tell its GPU|4 209 0 0\|app 2.1 holds code for 8.0, 8.6, 9.0 and PTX 9.0)")
        out, _ = self.start([output], "", preload=False, libraries=())
        self.assertEqual(out.split("\n")[0], "3 0 6 1|app 2.1 cannot tell its GPU: a static program loads libraries only beside the glibc that it was "
                         "made with, and libcuda.so.1 was not loaded")


class Clang(Programs):
    compiler = "clang"


class GccAsCxx(Programs):
    compiler, standard = "g++", ["-std=c++17", "-x", "c++"]


class ClangAsCxx(Programs):
    compiler, standard = "clang++", ["-std=c++17", "-x", "c++"]


class Sanitized(Programs):
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


class Threads(Programs):
    """What threads do at once, under TSan: nothing else is asked of it."""
    flags, preload = ["-fsanitize=thread"], False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "unexpected memory mapping" in subprocess.run(["sh", "-c", "echo 'int main(void){return 0;}' | gcc -fsanitize=thread -x c - -o t && ./t"],
                                                         cwd=cls.folder, stderr=subprocess.PIPE, text=True).stderr:
            raise cls.skipTest(cls, "TSan does not run under this kernel")


for name in [each for each in dir(Threads) if each.startswith("test_") and each != "test_many_and_threads"]:
    setattr(Threads, name, None)


class Windows(played.Played):
    def test_compiles_and_says_that_it_knows_nothing(self):
        """Its own words, where nothing is seen of what a program registers."""
        compiler = shutil.which("x86_64-w64-mingw32-gcc")
        if compiler is None:
            self.skipTest("no x86_64-w64-mingw32-gcc")
        (self.folder / "ask.c").write_text("""
            #include <stdio.h>
            #include "archguard_preflight.h"
            static struct archguard_preflight_report report;
            int main(void) {
              printf("%d %d|%s\\n", (int)archguard_preflight_check(&report), archguard_preflight_passes(&report), report.sentence);
              return 0;
            }""")
        self.run_tool(compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", options.preflight, "ask.c", options.preflight / "archguard_preflight.c", "-o", "ask.exe")
        wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
        if wine is None:
            self.skipTest("no wine64 here (Debian: wine64)")
        done = subprocess.run([wine, "ask.exe"], cwd=self.folder, env={**os.environ, "WINEPREFIX": str(self.folder / "wine"), "WINEDEBUG": "-all"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "3 1|what a program registers with the CUDA runtime is only seen in ELF files"))


class Extension(played.Played):
    def test_raises_the_sentence_at_first_use(self):
        include = sysconfig.get_path("include")
        if not os.path.exists(os.path.join(include, "Python.h")):
            self.skipTest("no Python.h")
        (self.folder / "ext.cc").write_text("""
            #include <Python.h>
            #include "archguard_preflight.h"
            static PyObject* use(PyObject*, PyObject*) {
              try {
                archguard_preflight::require();
              } catch (const archguard_preflight::Error& error) {
                PyErr_SetString(PyExc_RuntimeError, error.what());
                return nullptr;
              }
              Py_RETURN_NONE;
            }
            static PyMethodDef methods[] = {{"use", use, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
            static PyModuleDef module = {PyModuleDef_HEAD_INIT, "ext", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
            PyMODINIT_FUNC PyInit_ext() { return PyModule_Create(&module); }""")
        (self.folder / "code.c").write_text(played.source_of(USUAL))
        for source in (options.preflight / "archguard_preflight.c", self.folder / "code.c", played.HERE / "cudart.c"):
            self.run_tool("gcc", "-std=c11", "-fPIC", "-c", source)
        self.run_tool("g++", "-std=c++17", "-fPIC", "-shared", "-I", include, "-I", options.preflight, "ext.cc", "archguard_preflight.o", "code.o", "cudart.o",
                      *WRAP, "-o", "ext.so", "-ldl")
        script = "import ext, os\nprint('imported', flush=True)\nif os.fork() == 0:\n ext.use()\n print('used', flush=True)\n os._exit(0)\nos.wait()\next.use()\nprint('used')\n"
        out, err = self.start([sys.executable, "-c", script], driver(12040, "550.54.15", H100) + "crash cuInit\n")
        self.assertEqual((out.split(), err), (["imported", "used", "used"], ""))
        out, err = self.start([sys.executable, "-c", "import ext\nprint('imported', flush=True)\next.use()\n"], driver(12040, "550.54.15", T4), 1)
        self.assertEqual(out, "imported\n")
        self.assertEqual(err.strip().split("\n")[-1], "RuntimeError: ext.so holds code for 8.0, 8.6, 9.0 and PTX 9.0; this machine has a Tesla T4 "
                         "(7.5), driver CUDA 12.4: it needs a build with 75-real")


if __name__ == "__main__":
    played.main()
