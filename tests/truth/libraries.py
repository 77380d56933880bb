"""NVIDIA's libraries that a record uses besides the driver, through ctypes: NVRTC, nvFatbin and the CUDA runtime."""
import ctypes
import glob
import os
import re

UNTOUCHED = -1  # what a kernel's mark is before it ran


class CannotLoad(Exception):
    pass


def arguments_of_launch(memory):
    """The two arguments of every kernel `mark`: where it writes, and room behind that, since one kernel takes 8000 bytes by value."""
    room = ctypes.create_string_buffer(8192)
    arguments = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p), ctypes.cast(room, ctypes.c_void_p))
    arguments.pointed_to = memory, room  # which live as long
    return arguments


def load(name, folders):
    """The first library whose file name begins with `name` in one of the folders."""
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, name + ".so*")), reverse=True):
            try:
                return ctypes.CDLL(path)
            except OSError as error:
                raise CannotLoad("%s: %s" % (os.path.basename(path), re.sub(r"\S*/", "", str(error))))
    raise CannotLoad("no %s.so" % name)


def strings(options):
    return (ctypes.c_char_p * len(options))(*(option.encode() for option in options))


def fetched(get_size, get, handle, what):
    """The two calls by which these libraries hand out bytes: the size, then the bytes."""
    size = ctypes.c_size_t()
    if get_size(handle, ctypes.byref(size)) != 0:
        raise CannotLoad("%s has no size" % what)
    buffer = ctypes.create_string_buffer(size.value)
    if get(handle, buffer) != 0:
        raise CannotLoad("%s cannot be had" % what)
    return buffer.raw


class Nvrtc:
    def __init__(self, folders):
        # NVRTC opens this one by its bare name, which finds it where it is loaded already.
        load("libnvrtc-builtins", folders)
        self.library = load("libnvrtc", folders)

    def compile(self, source, kind, arch, options):
        """Cubin (`elf`) or PTX text of the source; None where NVRTC refuses."""
        program = ctypes.c_void_p()
        call = self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        if call != 0:
            return None
        try:
            all_options = ["-arch=%s%s" % ("sm_" if kind == "elf" else "compute_", arch), *options]
            if self.library.nvrtcCompileProgram(program, len(all_options), strings(all_options)) != 0:
                return None
            name = "CUBIN" if kind == "elf" else "PTX"
            return fetched(getattr(self.library, "nvrtcGet%sSize" % name), getattr(self.library, "nvrtcGet" + name),
                           program, name)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))


class NvFatbin:
    def __init__(self, folders):
        self.library = load("libnvfatbin", folders)

    def pack(self, images, options):
        """One fat binary of (kind, arch, bytes); None where nvFatbin refuses."""
        handle = ctypes.c_void_p()
        if self.library.nvFatbinCreate(ctypes.byref(handle), strings(options), ctypes.c_size_t(len(options))) != 0:
            return None
        try:
            for kind, arch, content in images:
                arguments = [handle, content, ctypes.c_size_t(len(content)), arch.encode(), b"kernel"]
                added = (self.library.nvFatbinAddCubin(*arguments) if kind == "elf"
                         else self.library.nvFatbinAddPTX(*arguments, b""))
                if added != 0:
                    return None
            return fetched(self.library.nvFatbinSize, self.library.nvFatbinGet, handle, "nvFatbin's output")
        finally:
            self.library.nvFatbinDestroy(ctypes.byref(handle))


class Wrapper(ctypes.Structure):
    """What nvcc's host code registers (fatbinary_section.h: __fatBinC_Wrapper_t)."""
    _fields_ = [("magic", ctypes.c_int), ("version", ctypes.c_int), ("data", ctypes.c_void_p), ("more", ctypes.c_void_p)]


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Runtime:
    """Registers a fat binary and launches its kernel as the host code that nvcc generates does."""

    def __init__(self, folders):
        self.library = load("libcudart", folders)
        self.register_fat_binary = self.library["__cudaRegisterFatBinary"]
        self.register_fat_binary.restype = ctypes.c_void_p
        self.registered = []

    def run(self, image):
        """Stops at the first call that fails: the same shape as the driver's result."""
        library = self.library
        image = ctypes.create_string_buffer(image, len(image))
        wrapper = Wrapper(0x466243B1, 1, ctypes.cast(image, ctypes.c_void_p), None)
        host = ctypes.create_string_buffer(b"mark")  # its address stands for the host function's
        self.registered.append((image, wrapper, host))  # the runtime looks at them for as long as it runs
        handle = ctypes.c_void_p(self.register_fat_binary(ctypes.byref(wrapper)))
        library["__cudaRegisterFunction"](handle, host, b"mark", b"mark", -1, None, None, None, None, None)
        library["__cudaRegisterFatBinaryEnd"](handle)

        memory, mark = ctypes.c_void_p(), ctypes.c_int(UNTOUCHED)
        code = library.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4))
        code = code or library.cudaMemset(memory, 0xFF, ctypes.c_size_t(4))
        if code == 0:
            one = Dim3(1, 1, 1)
            code = library.cudaLaunchKernel(host, one, one, arguments_of_launch(memory), ctypes.c_size_t(0), None)
        code = code or library.cudaDeviceSynchronize()
        if code == 0:
            code = library.cudaMemcpy(ctypes.byref(mark), memory, ctypes.c_size_t(4), 2)  # cudaMemcpyDeviceToHost
        return {"launch": code, "mark": mark.value} if code == 0 else {"launch": code}
