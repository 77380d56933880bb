// Texts as people paste them, and what each is: the answers were written down before the table was.
#include <doctest/doctest.h>

#include "explain/explain.h"

using namespace archguard;

namespace {

struct Pasted {
  const char* text;
  const char* id;       // of the first
  const char* finding;  // of `archguard doctor`, to be looked at first
};

constexpr Pasted kKnown[] = {
    {"OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.", "no-toolkit-to-build", "environment"},
    {"RuntimeError: Found NVIDIA GeForce GTX 1080 which is too old to be supported by the triton GPU compiler, which is used as the "
     "backend. Triton only supports devices of CUDA Capability >= 7.0, but your device is of CUDA capability 6.1",
     "triton-too-old-gpu", "jit-compiler"},
    {"NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n     query       : shape=(1, 2, 1, 40)",
     "xformers-no-operator", "not-architecture"},
    {"209", "no-kernel-image", "device-code"},
    {"error 209", "no-kernel-image", "device-code"},
    {"CUDA error: 209", "no-kernel-image", "device-code"},
    {"Error 209:", "no-kernel-image", "device-code"},
    {"error code 209", "no-kernel-image", "device-code"},
    {"CUDA_ERROR_209", "no-kernel-image", "device-code"},
    {"failed with CUDA_ERROR_209 (unknown)", "no-kernel-image", "device-code"},
    {"no-kernel-image", "no-kernel-image", "device-code"},
    {"35, 209", "driver-too-old", "driver"},
    {"CUDA capability sm_61 is not compatible with the current PyTorch installation", "torch-not-for-gpu", "device-code"},
    {"sm_61 is not compatible with the current PyTorch installation", "torch-not-for-gpu", "device-code"},
    {"cudaErrorNoKernelImageForDevice", "no-kernel-image", "device-code"},
    {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no-kernel-image", "device-code"},
    {"code=209(cudaErrorNoKernelImageForDevice) \"cudaGetLastError()\"", "no-kernel-image", "device-code"},
    {"RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors "
     "might be "
     "asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
     "no-kernel-image", "device-code"},
    {"cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is "
     "available for "
     "execution on the device",
     "no-kernel-image", "device-code"},
    {"torch.AcceleratorError: CUDA error: no kernel image is\n  available for execution on\n  the device",
     "no-kernel-image", "device-code"},
    {"Test CUDA failure common.cu:294 'named symbol not found'", "symbol-not-found", "device-code"},
    {"DriverError(CUDA_ERROR_NOT_FOUND, \"named symbol not found\") when loading cast_f32_bf16",
     "symbol-not-found", "device-code"},
    {"CUDA error 500 at sprintz.cu:12", "symbol-not-found", "device-code"},
    {"RuntimeError: CUDA error: invalid device symbol", "invalid-device-symbol", "device-code"},
    {"CUDA error: invalid device function", "invalid-device-function", "device-code"},
    {"cudaErrorInvalidDeviceFunction", "invalid-device-function", "device-code"},
    {"'CUDA_ERROR_INVALID_PTX'\nInternalError: 'cuLaunchKernel(...)' failed with 'CUDA_ERROR_INVALID_HANDLE'",
     "invalid-ptx", "device-code"},
    {"tensorflow.python.framework.errors_impl.InternalError: 'cuLaunchKernel(function, gridX, gridY, gridZ)' "
     "failed with "
     "'CUDA_ERROR_INVALID_HANDLE'",
     "invalid-handle", "device-code"},
    {"222", "unsupported-ptx-version", "jit-compiler"},
    {"CUDA error: the provided PTX was compiled with an unsupported toolchain.", "unsupported-ptx-version",
     "jit-compiler"},
    {"cuda error 222 at main.cu:7", "unsupported-ptx-version", "jit-compiler"},
    {"cuModuleLoadDataEx returned 222", "unsupported-ptx-version", "jit-compiler"},
    {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "unsupported-ptx-version", "jit-compiler"},
    {"cudaErrorInvalidKernelImage: device kernel image is invalid", "invalid-kernel-image", "driver"},
    {"CUDA driver version is insufficient for CUDA runtime version", "driver-too-old", "driver"},
    {"cudaGetDeviceCount() returned 35", "driver-too-old", "driver"},
    {"UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).",
     "driver-too-old", "driver"},
    {"RuntimeError: CUDA driver is a stub library", "stub-library", "libcuda"},
    {"34", "stub-library", "libcuda"},
    {"cudaErrorNoDevice: no CUDA-capable device is detected", "no-device", "driver"},
    {"RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
     "no-device", "driver"},
    {"RuntimeError: CUDA error: invalid device ordinal", "invalid-device", "environment"},
    {"Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
     "NumCudaDevices() that might "
     "have already set an error? Error 802: system not yet initialized",
     "fabric-not-ready", "driver"},
    {"Error 803: system has unsupported display driver / cuda driver combination", "driver-mismatch",
     "libcuda"},
    {"Error 804: forward compatibility was attempted on non supported HW", "compat-not-supported", "libcuda"},
    {"804", "compat-not-supported", "libcuda"},
    {"CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable "
     "CUDA_VISIBLE_DEVICES after program start.",
     "unknown-error", "driver"},
    {"cuInit returned 999", "unknown-error", "driver"},
    {"cudaErrorJitCompilationDisabled", "jit-disabled", "environment"},
    {"225", "device-sync", "device-code"},
    {"221", "no-jit-compiler", "libcuda"},
    {"ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "ptxas-unknown-arch",
     "jit-compiler"},
    {"ptxas fatal : Value 'sm_110a' is not defined\nfor option 'gpu-name'", "ptxas-unknown-arch",
     "jit-compiler"},
    {"triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` "
     "stderr:\nptxas fatal   : "
     "Value 'sm_121a' is not defined for option 'gpu-name'\nRepro command: ptxas -lineinfo -v "
     "--gpu-name=sm_121a x.ptx",
     "ptxas-unknown-arch", "jit-compiler"},
    {"subprocess.CalledProcessError: Command '['/x/triton/backends/nvidia/bin/ptxas', '-v', "
     "'--gpu-name=sm_103a', 'a.ptx', "
     "'-o', 'a.o']' returned non-zero exit status 255.",
     "triton-ptxas-failed", "jit-compiler"},
    {"ptxas a.ptx, line 9; fatal   : Unsupported .version 9.3; current version is '9.2'", "ptx-version",
     "jit-compiler"},
    {"ptxas fatal : Program with .target 'sm_90a' cannot be compiled to future architecture",
     "ptx-other-arch", "jit-compiler"},
    {"nvrtc: error: invalid value for --gpu-architecture (-arch)", "nvrtc-arch", "jit-compiler"},
    {"nvrtcCompileProgram(): NVRTC_ERROR_INVALID_OPTION", "nvrtc-arch", "jit-compiler"},
    {"nvrtc: error: failed to open libnvrtc-builtins.so.12.8.\n  Make sure that libnvrtc-builtins.so.12.8 is "
     "installed "
     "correctly.",
     "nvrtc-builtins", "library-mix"},
    {"nvcc fatal   : Unsupported gpu architecture 'compute_120'", "nvcc-unsupported-arch", "environment"},
    {"clang: error: unsupported CUDA gpu architecture: sm_120", "clang-unsupported-arch", "environment"},
    {"This kernel only supports sm100f.", "kernel-for-other-gpu", "device-code"},
    {"NotImplementedError: No compiled cutlass_scaled_mm for a compute capability less than CUDA device "
     "capability: 121",
     "scaled-mm-missing", "device-code"},
    {"skipping CUDA device \xe2\x80\x94 compute capability not in compiled architectures cc=860 archs=[750 "
     "890 1000 1200]",
     "ollama-skips-gpu", "device-code"},
    {"ImportError: [sgl_kernel] CRITICAL: Could not load any common_ops library!", "common-ops",
     "not-architecture"},
    {"Could not load any common_ops library!\n- ImportError: common_ops.abi3.so: undefined symbol: "
     "_ZN3c104cuda9SetDeviceEab",
     "torch-abi", "not-architecture"},
    {"Could not load any common_ops library! ImportError: libnvrtc.so.12: cannot open shared object file: No "
     "such file or "
     "directory",
     "cuda-library-missing", "library-mix"},
    {"RuntimeError: Configured CUDA binary not found at /x/bitsandbytes/libbitsandbytes_cuda129.so",
     "bitsandbytes-binary", "library-mix"},
    {"`fa3F@0.0.0` is not supported because: requires device with capability <= (9, 0) but your GPU has "
     "capability (12, 0) "
     "(too new)",
     "capability-gate", "not-architecture"},
    {"RuntimeError: No supported CUDA architectures found for major versions [12].", "flashinfer-no-arch",
     "environment"},
    {"FlashInfer requires sm75+", "flashinfer-no-arch", "environment"},
    {"RuntimeError: FlashInfer requires GPUs with sm75 or higher", "flashinfer-no-arch", "environment"},
    {"AssertionError: Unsupported SM 120", "nvcc-too-old-for-build", "environment"},
    {"RuntimeError: CUDA 12.8 or higher is required for compute capability 12.0.", "nvcc-too-old-for-build",
     "environment"},
    {"Exception: >- DeepSpeed Op Builder: Installed CUDA version 12.1 does not match the version torch was "
     "compiled with 11.8, unable to "
     "compile cuda/cpp extensions without a matching cuda version.",
     "nvcc-torch-mismatch", "environment"},
    {"*** WARNING *** Invoking ptxas with version 12.1.66, which corresponds to a CUDA version <=12.6.2.",
     "xla-ptxas", "jit-compiler"},
    {"Couldn't get ptxas version string: INTERNAL: Couldn't invoke ptxas --version", "xla-ptxas",
     "jit-compiler"},
    {"ImportError: libc10.so: cannot open shared object file: No such file or directory",
     "torch-library-missing", "not-architecture"},
    {"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2c58)\nNVRM: installed in this system requires use of "
     "the NVIDIA open kernel "
     "modules.",
     "open-module-needed", "driver"},
    {"ValueError: Unknown CUDA arch (12.0f) or GPU not supported", "torch-unknown-arch", "environment"},
    {"The detected CUDA version (11.8) mismatches the version that was used to compile\nPyTorch (12.8). "
     "Please make sure to "
     "use the same CUDA versions.",
     "nvcc-torch-mismatch", "environment"},
    {"NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
     "installation.",
     "torch-not-for-gpu", "device-code"},
    {"Found GPU0 NVIDIA GeForce GTX 1080 Ti which is of cuda capability 6.1.\n    Minimum and Maximum cuda "
     "capability "
     "supported by this version of PyTorch is\n    (7.0) - (12.0)",
     "torch-not-for-gpu", "device-code"},
    {"The minimum cuda capability supported by this library is 7.5.", "torch-not-for-gpu", "device-code"},
    {"AssertionError: Torch not compiled with CUDA enabled", "torch-without-cuda", "device-code"},
    {"ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
     "nvjitlink-symbol", "library-mix"},
    {"OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
     "cuda-library-missing", "library-mix"},
    {"ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
     "libcuda-missing", "libcuda"},
    {"AssertionError: libcuda.so cannot found!", "libcuda-missing", "libcuda"},
    {"cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED", "cublas-not-supported", "not-architecture"},
    {"RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`",
     "cublas-execution-failed", "device-code"},
    {"RuntimeError: cuDNN error: CUDNN_STATUS_ARCH_MISMATCH", "library-arch-mismatch", "device-code"},
    {"TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA "
     "kernels will be "
     "jit-compiled from PTX, which could take 30 minutes or longer.",
     "tensorflow-jit", "device-code"},
    {"ERROR: CUDA kernel mul_mat_q has no device code compatible with CUDA arch 520. ggml-cuda.cu was "
     "compiled for: 610",
     "ggml-no-code", "device-code"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "out-of-memory",
     "not-architecture"},
    {"RuntimeError: CUDA error: an illegal memory access was encountered", "illegal-address",
     "not-architecture"},
    {"RuntimeError: CUDA error: device-side assert triggered", "device-assert", "not-architecture"},
    {"CMake Error: CUDA_ARCHITECTURES is empty for target \"app\".", "cmake-empty-architectures",
     "environment"},
    {"nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used", "nvcc-no-native",
     "driver"},
    {"E1027 15:11:27.184481 3266602 cuda_dnn.cc:456] Loaded runtime CuDNN library: 9.10.1 but source was "
     "compiled with: 9.13.1.  CuDNN library needs to have matching major version",
     "cudnn-too-old", "library-mix"},
    {"RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (8, 3, 2) but found runtime "
     "version (8, 0, 3). PyTorch already comes bundled with cuDNN.",
     "cudnn-too-old", "library-mix"},
    {"RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 2, 1) but linked against "
     "(7, 6, 5)",
     "cudnn-too-old", "library-mix"},
    {"RuntimeError: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "cudnn-mixed", "library-mix"},
    {"RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", "cudnn-not-initialized", "not-architecture"},
    {"RuntimeError: Unable to load cuSPARSE. Is it installed?", "jax-library", "library-mix"},
    {"undefined symbol: _nvJitLinkGetErrorLogSize_12_9, version libnvJitLink.so.12", "nvjitlink-symbol",
     "library-mix"},
    {"CUDA SETUP: Required library version not found: libbitsandbytes_cuda121_nocublaslt.so. Maybe you need "
     "to "
     "compile it from source?",
     "bitsandbytes-binary", "library-mix"},
    {"numba.cuda.cudadrv.error.NvvmSupportError: No supported GPU compute capabilities found. Please check "
     "your "
     "cudatoolkit version matches your CUDA version.",
     "numba-toolkit", "jit-compiler"},
    {"RuntimeError: cutlassF: no kernel found to launch!", "xformers-no-kernel", "device-code"},
    {"`flshattF` is not supported because:\n    requires a GPU with compute capability > 7.5",
     "capability-gate", "not-architecture"},
    {"OSError: libcublas.so.11: symbol free_gemm_select version libcublasLt.so.11 not defined in file "
     "libcublasLt.so.11 with link time reference",
     "libraries-of-two-releases", "library-mix"},
    {"failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nkernel version "
     "470.182.3 "
     "does not match DSO version 520.61.5 -- cannot find working devices in this configuration",
     "libcuda-of-another-release", "libcuda"},
    {"Failed to initialize NVML: Driver/library version mismatch", "nvml-mismatch", "driver"},
    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "no-kernel-module",
     "driver"},
    {"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b80) installed in this system is not supported by "
     "open nvidia.ko "
     "because it does not include the required GPU System Processor (GSP).",
     "open-module-too-old-gpu", "driver"},
    {"\033[1;31mRuntimeError\033[0m: CUDA error: \033[1mno kernel image\033[0m is available for execution on "
     "the device",
     "no-kernel-image", "device-code"},
    {"AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable",
     "torch-sees-no-gpu", "driver"},
    {"AssertionError: Torch is not able to use GPU\nUserWarning: CUDA initialization: Error 803: system has "
     "unsupported display driver / cuda driver combination",
     "driver-mismatch", "libcuda"},
    {"RuntimeError: Torch is not able to use GPU\nCUDA driver version is insufficient for CUDA runtime "
     "version",
     "driver-too-old", "driver"},
    {"RuntimeError: Torch is not able to use GPU. no CUDA-capable device is detected", "no-device", "driver"},
    {"cuda error 2\nan own line", "out-of-memory", "not-architecture"},
    {"CUDA error 222 when loading a.cubin", "unsupported-ptx-version", "jit-compiler"},
    {"cuInit failed with error code 999", "unknown-error", "driver"},
    {"CUresult: 209", "no-kernel-image", "device-code"},
    {"cudaError_t = 35", "driver-too-old", "driver"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\nretry\nRuntimeError: CUDA "
     "error: no kernel image is available for execution on the device",
     "no-kernel-image", "device-code"},
    {"PyTorch version: 2.9.1+cu128\nROCM used to build PyTorch: N/A\nHIP runtime version: N/A\nCUDA error: "
     "no "
     "kernel image is available for execution on the device",
     "no-kernel-image", "device-code"},
    {"Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: "
     "\"rocm\"\nCUDA_ERROR_NO_BINARY_FOR_GPU",
     "no-kernel-image", "device-code"},
    {"/home/musa/app: relationship: CUDA error 209", "no-kernel-image", "device-code"},
    {"RuntimeError: No CUDA GPUs are available", "no-device", "driver"},
    {"RuntimeError: Library libcublas.so.12 is not found or cannot be loaded", "cuda-library-missing",
     "library-mix"},
    {"Library cublas64_12.dll is not found or cannot be loaded", "cuda-library-missing", "library-mix"},
    {"nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver "
     "to "
     "a newer version, or use an earlier cuda container: unknown.",
     "container-needs-newer-driver", "driver"},
    {"docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].",
     "container-without-gpu", "environment"},
    {"numba.cuda.cudadrv.driver.CudaAPIError: [209] Call to cuModuleLoadDataEx results in UNKNOWN_CUDA_ERROR",
     "no-kernel-image", "device-code"},
};

// Of other vendors, in the words of CUDA.
constexpr const char* kOfOthers[] = {
    "ROCm error: invalid device function\n  current device: 0, in function ggml_cuda_compute_forward\n  "
    "gfx1032",
    "found 1 ROCm devices:\n  Device 0: , compute capability 11.0, VMM: no\nCUDA error 98",
    "HIP failure 209: no kernel image is available for execution on the device",
    "hipErrorInvalidDeviceFunction: invalid device function",
    "HIP runtime error: invalid device function",
    "no kernel image is available for execution on the device (209) from hipLaunchKernel gfx90c",
    "AMD Radeon RX 6800 [ZLUDA]: CUDA error: named symbol not found",
    "MUSA error: invalid device function",
    "torch 2.5.1+rocm6.2: CUDA error: invalid device function",
    "\033[31mHIP\033[0m error: invalid device function",
    "hipErrorNoBinaryForGpu: Unable to find code object for all current devices! CUDA error 209",
};

constexpr const char* kUnknown[] = {
    "XCUDA_ERROR_209",
    "CUDA_ERROR_2091",
    "torch 209 35",
    "no-kernel-image-of-mine",
    "",
    " ",
    "hello",
    "42",
    "0",
    "-209",
    "2.09",
    "2090",
    "error 404",
    "HTTP error 500",
    "Internal Server Error 500",
    "line 209, in forward",
    "209 tests passed",
    "209 passed, 35 failed",
    "returned non-zero exit status 35",
    "[Errno 13] Permission denied: '/dev/nvidia0'",
    "exit code 100",
    "CUDA 12.9",
    "CUDA 209",
    "CUDA_SUCCESS",
    "cudaErrorNotReady",
    "cudaErrorNoKernelImageForDeviceX",
    "myCUDA_ERROR_NO_BINARY_FOR_GPU2",
    "CUDNN_STATUS_SUCCESS",
    "cudnn error 209",
    "cuBLAS error 13 at gemm.cc:12",
    "cuFFT error: 2",
    "cuDNN error code 2",
    "cuDNN error 35",
    "cuSPARSE error 2",
    "cuSOLVER failed: 13",
    "cuRAND status 100",
    "NCCL error 2",
    "CUDA error: 2 errors detected in the compilation of \"foo.cu\"",
    "Building for CUDA failed with error code 2",
    "CUDA result: 100 tokens in 3 s",
    "CUDA failed, 100 passed",
    "CUDA error: 2 GiB wanted",
    "[209] Call to a friend",
    "[2] Call to cublasCreate",
    "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
    "RuntimeError: HIP error: invalid device function",
    "HIP error: no kernel image is available for execution on the device",
    "there is no kernel image in this article",
    "no kernel module was found",
    "Value 'sm_90' is fine for option 'gpu-name'",
    "Value 'debug' is not defined for option 'optimize'",
    "Unsupported architecture 'arm64'",
    "Unsupported gpu",
    "Kernel panic - not syncing: Out of memory",
    "Out of memory: Killed process 4711 (python)",
    "MemoryError: out of memory",
    "undefined symbol: PyUnicode_AsUTF8",
    "undefined symbol: _ZNSt7__cxx1112basic_stringE",
    "libGL.so.1: cannot open shared object file: No such file or directory",
    "libcudacruft.so: cannot open shared object file",
    "ModuleNotFoundError: No module named 'torch'",
    "torch.cuda.is_available() returned False",
    "sm_86",
    "compute capability 8.6",
    "nvcc: NVIDIA (R) Cuda compiler driver Cuda compilation tools, release 13.0, V13.0.88",
    "-- The CUDA compiler identification is NVIDIA 13.0.88",
    "requires Python >= 3.9 but your Python is 3.8",
    "invalid argument",
    "unknown error",
    "system not ready",
    "the driver is insufficient",
    "Segmentation fault (core dumped)",
};

}  // namespace

TEST_CASE("texts that people paste are known, with the finding that is looked at first") {
  for (const Pasted& each : kKnown) {
    CAPTURE(each.text);
    const auto found = explain(each.text);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().id == each.id);
    REQUIRE_FALSE(found.front().findings.empty());
    CHECK(found.front().findings.front() == each.finding);
  }
}

TEST_CASE("what another vendor's libraries say in the words of CUDA is not explained") {
  for (const char* text : kOfOthers) {
    CAPTURE(text);
    CHECK(explain(text).empty());
    CHECK_FALSE(other_vendor_in(text).empty());
  }
  for (const Pasted& each : kKnown) CHECK(other_vendor_in(each.text) == "");
  CHECK(other_vendor_in("HIP failure 209") == "AMD's ROCm");
  CHECK(other_vendor_in("MUSA error") == "Moore Threads' MUSA");
}

TEST_CASE("a text that only looks like one of them is not explained") {
  for (const char* text : kUnknown) {
    CAPTURE(text);
    const auto found = explain(text);
    CHECK((found.empty() ? "" : found.front().id) == "");
  }
}
