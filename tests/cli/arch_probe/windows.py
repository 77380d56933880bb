"""Compiles arch_probe for Windows with mingw-w64 and runs it under wine beside doubles of the driver's libraries.

    windows.py SOURCE FOLDER   FOLDER keeps wine's prefix and what is compiled
"""
import os
import pathlib
import shutil
import subprocess
import sys

COMPILER = "x86_64-w64-mingw32-g++-posix"
A100 = """driver 580.95.05
cuda 13000
device cc=8.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:3B:00.0 name=NVIDIA A100
"""
NVCC = r"""
#include <cstdio>
#include <cstring>
int main(int argc, char** argv) {
  const char* option = argc == 2 ? argv[1] : "";
  if (std::strcmp(option, "--version") == 0)
    std::puts("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88");
  else if (std::strcmp(option, "--list-gpu-code") == 0)
    std::puts("sm_75\nsm_80");
  else if (std::strcmp(option, "--list-gpu-arch") == 0)
    std::puts("compute_75\ncompute_80");
  else
    return 1;
}
"""


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def wine_program(*names):
    for name in names:
        found = shutil.which(name) or shutil.which(name, path="/usr/lib/wine")
        if found:
            return found
    return None


class Machine:
    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.wine, self.wineserver = wine_program("wine64"), wine_program("wineserver64", "wineserver")
        if shutil.which(COMPILER) is None:
            skip("no %s here (Debian: g++-mingw-w64-x86-64-posix)" % COMPILER)
        if self.wine is None or self.wineserver is None:
            skip("no wine64 here (Debian: wine64)")
        folder.mkdir(parents=True, exist_ok=True)
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("CUDA_", "NVIDIA_", "WINE")) and name != "DISPLAY"}
        self.env.update(WINEPREFIX=str(folder / "prefix"), WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=")

    def compile(self, target, *arguments):
        target = self.folder / target
        target.parent.mkdir(exist_ok=True)
        subprocess.run([COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-static", "-o", str(target),
                        *map(str, arguments)], check=True, timeout=300)

    def compile_all(self):
        doubles = self.source / "tests/support/fake_driver"
        self.compile("arch_probe.exe", "-fno-exceptions", "-fno-rtti", "-I%s/src" % self.source,
                     self.source / "tools/arch_probe/unity.cc")
        for folder, library, double in [("cuda", "nvcuda.dll", "cuda.cc"), ("nvml", "nvml.dll", "nvml.cc")]:
            self.compile(folder + "/" + library, "-shared", "-I%s/tests" % self.source, doubles / double,
                         doubles / "machine.cc")
        (self.folder / "nvcc.cc").write_text(NVCC, encoding="utf-8")
        self.compile("toolkit/nvcc.exe", self.folder / "nvcc.cc")
        (self.folder / "broken").mkdir(exist_ok=True)
        (self.folder / "broken/nvcuda.dll").write_text("no library\n", encoding="utf-8")

    def windows_path(self, name):
        return "Z:" + str(self.folder / name).replace("/", "\\")

    def call(self, *arguments, machine=A100, path=("cuda",), variables=(), cwd="."):
        """'exit N', standard output and standard error of one run. Wine itself now and then loses a process that it starts, and
        says ERROR_INTERNAL_ERROR, which Windows never does: then once more, three times in all."""
        for _ in range(3):
            text = self.call_once(arguments, machine, path, variables, cwd)
            if "cannot be started: internal error" not in text:
                break
        return text

    def call_once(self, arguments, machine, path, variables, cwd):
        (self.folder / "machine").write_text(machine, encoding="utf-8")
        env = dict(self.env, ARCHGUARD_FAKE_MACHINE=self.windows_path("machine"), **dict(variables))
        if path:  # an empty one would be the current folder
            env["WINEPATH"] = ";".join(map(self.windows_path, path))
        run = subprocess.run([self.wine, str(self.folder / "arch_probe.exe"), *arguments], env=env, timeout=120,
                             cwd=self.folder / cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        text = "exit %d\n%s%s" % (run.returncode, run.stdout.decode(), run.stderr.decode())
        folder = self.windows_path("")
        return text.replace(folder.replace("\\", "\\\\"), "FOLDER").replace(folder, "FOLDER")

    def stop(self):
        for option in "-k", "-w":
            subprocess.run([self.wineserver, option], env=self.env, timeout=60, check=False)


def check(wrong, what, found, expected):
    if found == expected:
        return
    wrong.append(what)
    print("%s\n--- found\n%s\n--- expected\n%s\n" % (what, found, expected))


def document(status, library, device, diagnostics, cache="null", driver="null"):
    return """{
  "schema": "archguard.devices/1",
  "status": "%s",
  "driver": {"version": %s, "cuda_version": %s, "library": %s, "library_version": null},
  "devices": [%s],
  "diagnostics": [%s],
  "cache": %s
}
""" % (status, driver, '"13.0"' if library else "null", '"FOLDER\\\\cuda\\\\nvcuda.dll"' if library else "null",
       "\n    %s\n  " % device if device else "", "\n    %s\n  " % diagnostics if diagnostics else "", cache)


DEVICE = ('{"name": "NVIDIA A100", "compute_capability": "8.0", "driver_version": null, "driver_cuda": "13.0", '
          '"uuid": "GPU-aaaaaaaa-0000-0000-0000-000000000001", "pci_bus_id": "00000000:3B:00.0", "visible": true, '
          '"excluded": null, "mig": false, "count": 1, "host": null, "origin": "this machine", "source": {"compute_capability": "cuda", '
          '"driver_cuda": "cuda", "name": "cuda", "pci_bus_id": "cuda", "uuid": "cuda"}}')
DEVICE_OF_BOTH = DEVICE.replace('"driver_version": null', '"driver_version": "580.95.05"').replace(
    '"driver_cuda": "cuda", ', '"driver_cuda": "cuda", "driver_version": "nvml", ')
NO_DEVICE = ('{"stage": "cuInit", "code": 100, "name": "CUDA_ERROR_NO_DEVICE", '
             '"cause": "the driver finds no CUDA device in this machine", '
             '"fix": "check that the Device Manager shows the GPU without a warning, or give a fleet file"}')
SELECTED = """exit 0
80-real;80-virtual
80-real     NVIDIA A100 (8.0, this machine)
80-virtual  PTX fallback for GPUs newer than 8.0
"""


def run_cases(machine):
    wrong = []

    def case(what, expected, *arguments, **how):
        check(wrong, what, machine.call(*arguments, **how), expected)

    case("one A100", "exit 0\n" + document("ok", True, DEVICE, ""), "--format", "json")
    case("with NVML", "exit 0\n" + document("ok", True, DEVICE_OF_BOTH, "", driver='"580.95.05"'), "--format", "json",
         path=("cuda", "nvml"))
    case("select", SELECTED, "select", "--toolkit", "13.0")
    case("nvcc by PATH", SELECTED, "select", "--nvcc", "nvcc", path=("cuda", "toolkit"))
    case("nvcc by its path, without .exe", SELECTED, "select", "--nvcc", machine.windows_path("toolkit/nvcc"))
    case("no nvcc", """exit 2
arch_probe: error: nvcc: no such program in PATH
  fix: add the CUDA toolkit's bin folder to PATH, or name the CUDA compiler itself, for example /usr/local/cuda/bin/nvcc
""", "select", "--nvcc", "nvcc")
    case("no DLL", """exit 3
no usable GPU
load: no NVIDIA driver on this machine (nvcuda.dll was not found)
  fix: install the NVIDIA driver, or give a fleet file that names the GPUs to build for
""", path=())
    case("a DLL in the current folder alone", """exit 3
no usable GPU
load: no NVIDIA driver on this machine (nvcuda.dll was not found)
  fix: install the NVIDIA driver, or give a fleet file that names the GPUs to build for
""", path=(), cwd="cuda")
    case("no DLL, select", """exit 3
arch_probe: error: load: no NVIDIA driver on this machine (nvcuda.dll was not found)
  fix: install the NVIDIA driver, or give a fleet file that names the GPUs to build for
""", "select", "--toolkit", "13.0", "--on-no-device", "error", path=())
    case("a DLL that is none", """exit 4
the driver fails
load: nvcuda.dll cannot be loaded: FOLDER\\broken\\nvcuda.dll: bad exe format for this file
  fix: reinstall the NVIDIA driver
""", path=("broken",))
    case("cuInit fails", "exit 3\n" + document("none", True, "", NO_DEVICE), "--format", "json",
         machine=A100 + "fail cuInit 100\n")
    case("hidden", """exit 3
no usable GPU
environment 100 CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is '-1' and hides every GPU
  fix: unset CUDA_VISIBLE_DEVICES
driver library: FOLDER\\cuda\\nvcuda.dll
""", variables=[("CUDA_VISIBLE_DEVICES", "-1")])
    case("it hangs", """exit 4
the driver fails
cuInit timeout: nvcuda.dll (FOLDER\\cuda\\nvcuda.dll) did not answer within 2 s
  fix: the driver hangs: restart the machine; or allow more time with --timeout
driver library: FOLDER\\cuda\\nvcuda.dll
""", "--timeout", "2", machine=A100 + "hang cuInit\n")
    case("it crashes", """exit 4
the driver fails
cuInit crash: nvcuda.dll (FOLDER\\cuda\\nvcuda.dll) crashed: access violation
  fix: reinstall the NVIDIA driver
output: nvcuda.dll printed: last words\\nlast words
driver library: FOLDER\\cuda\\nvcuda.dll
""", machine=A100 + "print cuInit last words\ncrash cuInit\n")
    case("it ends the process", """exit 4
the driver fails
cuInit exit: nvcuda.dll (FOLDER\\cuda\\nvcuda.dll) ended the process with exit code 5
  fix: reinstall the NVIDIA driver
driver library: FOLDER\\cuda\\nvcuda.dll
""", machine=A100 + "exit cuInit 5\n")
    case("no cache", "exit 0\n" + document(
        "ok", True, DEVICE, "", '{"used": false, "reason": "Windows does not tell whether it still holds"}'),
         "--format", "json", "--cache", "cache")
    if (machine.folder / "cache").exists():
        wrong.append("--cache wrote a file")
    case("a fleet file is written", SELECTED, "select", "--toolkit", "13.0", "--write-devices", "fl\u00e9et.csv")
    case("and read again", SELECTED.replace("this machine", "fl\u00e9et.csv:2"), "select", "--toolkit", "13.0",
         "--fleet", "fl\u00e9et.csv")
    case("no fleet file", """exit 2
arch_probe: error: --fleet nowhere.csv: no such file
  fix: look what is there: dir ".", or write one where the GPUs are: arch_probe --format csv > nowhere.csv
""", "--fleet", "nowhere.csv")
    case("a folder", "exit 2\narch_probe: error: --fleet cuda: is a folder, not a file\n", "--fleet", "cuda")
    case("no place to write to", """exit 2
arch_probe: error: nowhere\\fleet.csv: cannot be written: path not found
  fix: name a file in a folder that exists and is yours
""", "--write-devices", "nowhere\\fleet.csv")
    return wrong


def main():
    machine = Machine(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    machine.compile_all()
    try:
        subprocess.run([machine.wine, "wineboot", "-i"], env=machine.env, timeout=300, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        wrong = run_cases(machine)
    finally:
        machine.stop()
    print("wrong: %s" % ", ".join(wrong) if wrong else "all cases as expected")
    sys.exit(1 if wrong else 0)


main()
