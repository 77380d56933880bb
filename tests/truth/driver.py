"""What loads an image and runs its kernel: the driver's interface, through ctypes, in a process of its own."""
import ctypes
import re

from libraries import UNTOUCHED, CannotLoad, arguments_of_launch

COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76  # CUdevice_attribute


class Driver:
    """The few calls of libcuda that a record needs; each returns the CUresult."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise CannotLoad("no driver: %s" % re.sub(r"\S*/", "", str(error)))
        self.require("cuInit", 0)
        version, device = ctypes.c_int(), ctypes.c_int()
        self.require("cuDriverGetVersion", ctypes.byref(version))
        self.require("cuDeviceGet", ctypes.byref(device), 0)
        self.device, self.allocated = device, None
        self.cuda = "%d.%d" % (version.value // 1000, version.value % 1000 // 10)

    def call(self, name, *arguments):
        try:
            return getattr(self.library, name)(*arguments)
        except AttributeError:
            raise CannotLoad("this libcuda has no %s" % name)

    def require(self, name, *arguments):
        code = self.call(name, *arguments)
        if code != 0:
            raise CannotLoad("%s says %d" % (name, code))

    def name(self):
        text = ctypes.create_string_buffer(256)
        self.require("cuDeviceGetName", text, 256, self.device)
        return text.value.decode()

    def capability(self):
        values = []
        for attribute in (COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR):
            value = ctypes.c_int()
            self.require("cuDeviceGetAttribute", ctypes.byref(value), attribute, self.device)
            values.append(value.value)
        return tuple(values)

    def memory(self):
        """Of the first run, which makes the context, too."""
        if self.allocated is None:
            context, self.allocated = ctypes.c_void_p(), ctypes.c_uint64()
            self.require("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
            self.require("cuCtxSetCurrent", context)
            self.require("cuMemAlloc_v2", ctypes.byref(self.allocated), ctypes.c_size_t(4))
        return self.allocated

    def run(self, image):
        """Loads the image, finds the kernel `mark` and runs it; stops at the first call that fails."""
        memory = self.memory()
        self.require("cuMemsetD32_v2", memory, ctypes.c_uint(UNTOUCHED & 0xffffffff), ctypes.c_size_t(1))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        result = {"load": self.call("cuModuleLoadData", ctypes.byref(module), image)}
        if result["load"] == 0:
            result["function"] = self.call("cuModuleGetFunction", ctypes.byref(function), module, b"mark")
        if result.get("function") == 0:
            code = self.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, arguments_of_launch(memory), None)
            result["launch"] = code or self.call("cuCtxSynchronize")
        if result.get("launch") == 0:
            mark = ctypes.c_int()
            self.require("cuMemcpyDtoH_v2", ctypes.byref(mark), memory, ctypes.c_size_t(4))
            result["mark"] = mark.value
            self.require("cuModuleUnload", module)
        return result
