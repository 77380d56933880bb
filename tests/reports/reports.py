"""Plays what users reported in public and writes down what ArchGuard says of it.

    reports.py --archguard PATH --arch-probe PATH --fixture PATH --fake-driver FOLDER [--update] DOCUMENT

Fails where DOCUMENT is not what the programs say; with --update writes it instead. Each report is a binary as that
project shipped it, made small by tests/support/fixture (the same kinds and architectures of images), or the fleet and the
toolkit of its build, and one command.
"""
import argparse
import collections
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

Report = collections.namedtuple("Report", "cause when reported tells files commands")
CONFIGURE, BUILT = "at configure time", "after the build"


def binary(cuda, *images):
    return " ".join([cuda, *images])


TORCH_CU126 = binary("12.6", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90")
TORCH_CU128 = binary("12.8", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
FLEET = "name, compute_cap, driver_version\n"

REPORTS = [
    Report("A GPU newer than the binary", BUILT,
           "pytorch#150733, pytorch#167244, vllm#16901, vllm#20748, onnxruntime#26181, xformers#1329, flashTP#9",
           "A library built for sm_50 to sm_90 without PTX meets a GeForce RTX 50 (12.0).",
           {"libtorch_cuda.so": TORCH_CU126},
           ["archguard verify libtorch_cuda.so --device 12.0@12.8"]),
    Report("The same build, when it is configured", CONFIGURE,
           "pytorch#150733, flashTP#9",
           "The fleet names the new GPU; the toolkit cannot make SASS for it, so PTX is added that its driver compiles.",
           {}, ["arch_probe select --device 9.0 --device 12.0@12.8 --toolkit 12.6"]),
    Report("An old GPU that a release dropped", BUILT,
           "ollama#12316, llama.cpp#4215, vllm#629, cuDecomp#97; and a GeForce MX330 (6.1) with PyTorch 2.9.1+cu128",
           "The libraries hold sm_70 to sm_120 and no PTX.",
           {"libtorch_cuda.so": TORCH_CU128},
           ["archguard verify libtorch_cuda.so --device 6.1@13.0 --scope library"]),
    Report("Tegra", BUILT, "jax#40487, vllm#19328, onnxruntime#5282",
           "SASS of a desktop GPU of the same major version does not run on a Jetson Orin (8.7).",
           {"libjaxlib.so": binary("12.4", "sm_80", "sm_90", "sm_90a")},
           ["archguard verify libjaxlib.so --device 8.7@12.6"]),
    Report("The toolkit does not know the GPU yet: \"Unsupported gpu architecture\"", CONFIGURE,
           "llama.cpp#13271, llama.cpp#23224, whisper.cpp#3030, libuipc#237",
           "nvcc stops at compute_120a; a list that it can build is chosen instead.",
           {}, ["arch_probe select --device 12.0@12.9 --toolkit 12.4"]),
    Report("The toolkit has dropped the GPU", CONFIGURE, "cuda-samples#382, koboldcpp#1758, AliceVision#1712",
           "CUDA 13 makes nothing for Maxwell and Pascal; the rest of the fleet is built.",
           {}, ["arch_probe select --device 5.2 --device 8.6 --toolkit 13.0"]),
    Report("`native` found no GPU, or the probe failed", CONFIGURE,
           "llama.cpp#18430, llama.cpp#18413, onnxruntime#25735, nvidia-docker#370, rapids-cmake#605, rapids-cmake#411",
           "A builder with a libcuda and no GPU, simulated: what is built is told; `--on-no-device error` stops instead.",
           {"machine": "driver 580.95.05\ncuda 13000\nfail cuInit 100\n"},
           ["arch_probe select --toolkit 13.0"]),
    Report("A list that is no list", CONFIGURE, "colmap#1779, instant-ngp#465, TransformerEngine#2804",
           "Names in another tool's spelling, and a setting that is empty.",
           {}, ["arch_probe select --device 8.6 --toolkit 12.8 --baseline sm_86",
                "arch_probe select --device 8.6 --toolkit 12.8 --baseline ''"]),
    Report("The user's choice was ignored", BUILT, "librediffusion#18, libSGM#79, DREAMPlace#86",
           "CUDA_ARCHITECTURES says 86, flags of one source file say something else.",
           {"libfoo.so": binary("12.8", "sm_52")},
           ["archguard verify libfoo.so --expect 86 --target foo"]),
    Report("PTX newer than the driver: error 222", BUILT,
           "llama.cpp#1648, gpu-burn#112, jax#8731, ucx#8569, mach#62",
           "The T4 has SASS and runs; the L4 of the same fleet and driver needs JIT and fails.",
           {"a.out": binary("12.4", "sm_75", "compute_75"),
            "fleet.csv": FLEET + "NVIDIA T4, 7.5, 535.104.05\nNVIDIA L4, 8.9, 535.104.05\n"},
           ["archguard verify a.out --fleet fleet.csv"]),
    Report("A runtime newer than the driver: error 35", BUILT, "nunif#702, kit-app-template#62, evalml#165",
           "A build of CUDA 13 was installed where the driver is older than 580: the GPU has its image, and nothing starts.",
           {"libtorch_cuda.so": binary("13.0", "sm_80", "sm_86", "sm_90", "runtime"),
            "fleet.csv": FLEET + "NVIDIA GeForce RTX 3060, 8.6, 550.54.15\nNVIDIA A100, 8.0, 550.54.15\n"},
           ["archguard verify libtorch_cuda.so --fleet fleet.csv --scope library"]),
    Report("Mixed architectures in one link", BUILT, "cub#545, solana-perf-libs#91",
           "One library of the link was built for sm_70 alone; the file as a whole looks complete.",
           {"prog": binary("12.2", "sm_70", "sm_80", "+", "sm_70")},
           ["archguard verify prog --device 8.0@12.2"]),
    Report("Kernels without code for one GPU", BUILT, "vllm#53835, vllm#45260",
           "The image for Thor (11.0) is there; the kernel in it is empty, or is not in it at all.",
           {"_C.abi3.so": binary("13.0", "sm_90", "sm_110:empty"),
            "_moe_C.abi3.so": binary("13.0", "sm_90", "sm_110:without")},
           ["archguard verify _C.abi3.so --device 11.0@13.0", "archguard verify _moe_C.abi3.so --device 11.0@13.0"]),
    Report("Compressed for newer drivers: error 200", BUILT, "mlx#2407, ollama#12258",
           "CUDA 12.8 and later can compress with zstd, which drivers before 12.4 are said not to know.",
           {"libggml-cuda.so": binary("12.9", "sm_75:zstd", "sm_86:zstd")},
           ["archguard verify libggml-cuda.so --device 8.6@12.2"]),
    Report("Size", BUILT, "pytorch/builder#481, cudf#23419",
           "What each architecture costs.", {"libtorch_cuda.so": TORCH_CU128}, ["archguard inspect libtorch_cuda.so"]),
]


def run(command, folder, options):
    """Exit status and what a terminal would show: standard error first, as both programs print it."""
    words = shlex.split(command)
    program = {"archguard": options.archguard, "arch_probe": options.arch_probe}[words[0]]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    if (folder / "machine").exists():
        library = folder / "usr/lib/x86_64-linux-gnu/libcuda.so.1"
        library.parent.mkdir(parents=True)
        shutil.copy(options.fake_driver / "cuda/libcuda.so.1", library)
        environment.update(LD_LIBRARY_PATH=str(library.parent),
                           LD_PRELOAD=str(options.fake_driver / "files/libfake_files.so.1"),
                           ARCHGUARD_FAKE_ROOT=str(folder), ARCHGUARD_FAKE_MACHINE=str(folder / "machine"),
                           ASAN_OPTIONS="verify_asan_link_order=0")
    done = subprocess.run([program, *words[1:]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return done.returncode, (done.stderr + done.stdout).rstrip("\n").replace(str(folder), "")


def first_line(text):
    lines = [line for line in text.split("\n") if re.search(r"error|warning|note", line)] or text.split("\n")
    return lines[0].strip().replace("|", "\\|")


def play(report, options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in report.files.items():
            if "\n" in content:
                (folder / file).write_text(content)
            else:
                subprocess.run([options.fixture, folder / file, *content.split()], check=True)
        return [(command, *run(command, folder, options)) for command in report.commands]


def document_text(options):
    rows, chapters = [], []
    for report in REPORTS:
        played = play(report, options)
        rows.append("| %s | %s | %s | %s |" % (report.cause, report.reported, report.when,
                                              "<br>".join("`%s`" % first_line(text) for _, _, text in played)))
        chapters += ["## " + report.cause, "", "Reported: %s." % report.reported, report.tells, "", "```console"]
        for command, status, text in played:
            chapters += ["$ " + command, text, "$ echo $?", str(status)]
        chapters += ["```", ""]
    return "\n".join([
        "# What users reported, and what ArchGuard says of it", "",
        "Written by `tests/reports/reports.py --update`; the test `reports` fails where it is not what the programs print. The",
        "binaries are small ones with the same kinds and architectures of images as those reported.", "",
        "| cause | reported in | when ArchGuard tells | its first line |", "|---|---|---|---|", *rows, "",
        *chapters]).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("archguard", "arch-probe", "fixture", "fake-driver"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("document", type=pathlib.Path)
    options = parser.parse_args()
    text = document_text(options)
    if options.update:
        options.document.write_text(text, encoding="utf-8")
        return
    committed = options.document.read_text(encoding="utf-8") if options.document.exists() else ""
    if text != committed:
        sys.stdout.writelines(difflib.unified_diff(committed.splitlines(True), text.splitlines(True), "committed", "played"))
        sys.exit("%s is not what the programs say; cmake --build BUILD --target update_reports writes it" % options.document)
    print("%d reports, each as %s has it" % (len(REPORTS), options.document.name))


main()
