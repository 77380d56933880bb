"""ArchGuard's programs and its CMake package, as they lie in this environment.

The programs are on PATH, too. Where another package brings a program `archguard`, `python -m archguard_cuda` is this one.
"""
import os

__all__ = ["cmake_dir", "program"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def cmake_dir():
    """The folder of ArchGuardConfig.cmake: -DArchGuard_DIR=<it>."""
    return os.path.join(_FOLDER, "lib", "cmake", "ArchGuard")


def program(name="archguard"):
    """The path of a program: `archguard` or `arch_probe`."""
    if name not in ("archguard", "arch_probe"):
        raise ValueError("archguard_cuda has no program %r; it has archguard and arch_probe" % (name,))
    return os.path.join(_FOLDER, "bin", name)
