"""Compiles scale.cu with nvcc for the GPUs of fleet.csv, and verifies the extension that came out of it.

With CI set, a GPU that is missed stops the build; elsewhere it is a warning. Without ArchGuard nothing is chosen or verified.
"""
import os
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    import archguard_cuda
except ImportError:
    archguard_cuda = None

FLEET = "fleet.csv"  # builds run in the folder of this file
NVCC = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def architectures():
    """nvcc's options, one for each architecture."""
    given = os.environ.get("SCALING_GENCODE")
    if given:
        return given.split()
    if archguard_cuda is None:
        return ["-arch=all-major"]
    chosen = subprocess.run([archguard_cuda.program("arch_probe"), "select", "--fleet", FLEET, "--nvcc", NVCC, "--format", "gencode"],
                            check=True, stdout=subprocess.PIPE, text=True)
    return chosen.stdout.split()


class BuildWithNvcc(build_ext):
    def build_extension(self, extension):
        objects = []
        for source in [each for each in extension.sources if each.endswith(".cu")]:
            os.makedirs(self.build_temp, exist_ok=True)
            objects.append(os.path.join(self.build_temp, os.path.basename(source) + ".o"))
            self.spawn([NVCC, "-O2", "-Xcompiler=-fPIC", *architectures(), "-c", source, "-o", objects[-1]])
        extension.sources = [each for each in extension.sources if not each.endswith(".cu")]
        extension.extra_objects += objects
        toolkit = os.path.dirname(os.path.dirname(os.path.realpath(NVCC)))
        extension.library_dirs += [os.path.join(toolkit, "lib64"), os.path.join(toolkit, "lib")]
        extension.libraries += ["cudart_static", "dl", "rt", "pthread"]
        super().build_extension(extension)
        self.verify(self.get_ext_fullpath(extension.name))

    def verify(self, path):
        if archguard_cuda is None:
            return
        found = subprocess.run([archguard_cuda.program(), "verify", path, "--fleet", FLEET])
        if found.returncode and "CI" in os.environ:
            raise SystemExit("%s does not run on every GPU of fleet.csv" % os.path.basename(path))


setup(packages=["scaling"], cmdclass={"build_ext": BuildWithNvcc},
      ext_modules=[Extension("scaling._scaling", ["module.cc", "scale.cu"], language="c++")])
