"""Plays a GPU to the Python of one environment: bench/peers puts it there as sitecustomize.py, with played.json beside it.

torch is real: its own code asks for the GPU, warns of what it is not built for, and reports a driver that fails. Only what it asks its C++ part
is answered here: the number of GPUs, their properties, the architectures that it was built for, its version, and what cuInit says.
"""
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
import warnings

with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "played.json"), encoding="utf-8") as file:
    PLAYED = json.load(file)


def of_version(module):
    module.__version__, module.cuda = PLAYED["torch"]["version"], PLAYED["torch"]["cuda"]


def count_of_devices():
    """As c10's device_count: a driver that fails is a warning, and no GPU."""
    import ctypes
    try:
        ctypes.CDLL("libcuda.so.1")  # a process that uses CUDA has loaded it
    except OSError:
        pass
    if PLAYED["failure"]:
        warnings.warn("CUDA initialization: %s (Triggered internally at /pytorch/c10/cuda/CUDAFunctions.cpp:119.)" % PLAYED["failure"], stacklevel=2)
        return 0
    return 1


def initialize():
    if PLAYED["failure"]:
        raise RuntimeError(PLAYED["failure"])


def of_torch(module):
    core, cuda = module._C, module.cuda
    if PLAYED["torch"]["cuda"] is None:
        cuda._is_compiled = lambda: False
        module.backends.cuda.is_built = lambda: False
        return
    major, minor = (int(part) for part in PLAYED["gpu"]["cc"].split("."))
    properties = types.SimpleNamespace(name=PLAYED["gpu"]["name"], major=major, minor=minor, multi_processor_count=PLAYED["gpu"]["units"],
                                       total_memory=PLAYED["gpu"]["memory"] << 20, is_integrated=False, is_multi_gpu_board=False)
    core._cuda_getDeviceCount = count_of_devices
    core._cuda_init = initialize
    core._cuda_getArchFlags = lambda: PLAYED["torch"]["archs"]
    core._cuda_getDevice = lambda: 0
    core._cuda_setDevice = lambda index: None
    cuda._device_count_nvml = lambda: -1
    cuda._get_device_properties = lambda index: properties
    for name in ("_exchange_device", "_maybe_exchange_device"):
        setattr(cuda, name, lambda index: 0)


def of_bitsandbytes(module):
    """Its check computes on the GPU: here it ends as it would there."""
    def checked():
        if "check_prints" in PLAYED:
            print(PLAYED["check_prints"], file=sys.stderr)
            sys.exit(1)
        if "check_raises" in PLAYED:
            raise RuntimeError(PLAYED["check_raises"])
    module.sanity_check = checked


PATCHES = {"torch.version": of_version, "torch": of_torch, "bitsandbytes.diagnostics.main": of_bitsandbytes}


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch" and "import_fails" in PLAYED:
            raise ImportError(PLAYED["import_fails"])
        if name not in PATCHES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def patched(module):
            execute(module)
            PATCHES[name](module)
        spec.loader.exec_module = patched
        return spec


sys.meta_path.insert(0, Finder())
if PLAYED["container"]:
    exists = os.path.exists
    os.path.exists = lambda path: path == "/.dockerenv" or exists(path)
if PLAYED["kernel"]:
    system = os.uname()
    os.uname = lambda: os.uname_result((system.sysname, system.nodename, PLAYED["kernel"], system.version, system.machine))
