#include "compat/error_codes.h"

namespace archguard {
namespace {

const ErrorNames* find_names(int code) {
  for (const ErrorNames& each : known_errors())
    if (each.code == code) return &each;
  return nullptr;
}

}  // namespace

const std::vector<ErrorNames>& known_errors() {
  static const std::vector<ErrorNames> kErrors = {
      {1, "", "CUDA_ERROR_INVALID_VALUE", ""},
      {2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", ""},
      {3, "", "CUDA_ERROR_NOT_INITIALIZED", ""},
      {4, "", "CUDA_ERROR_DEINITIALIZED", ""},
      {13, "cudaErrorInvalidSymbol", "", "invalid device symbol"},
      {34, "cudaErrorStubLibrary", "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
      {35, "cudaErrorInsufficientDriver", "", "CUDA driver version is insufficient for CUDA runtime version"},
      {36, "cudaErrorCallRequiresNewerDriver", "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
       "API call is not supported in the installed CUDA driver"},
      {46, "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE",
       "CUDA-capable device(s) is/are busy or unavailable"},
      {98, "cudaErrorInvalidDeviceFunction", "", "invalid device function"},
      {100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
      {101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
      {102, "", "CUDA_ERROR_DEVICE_NOT_LICENSED", ""},
      {200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
      {209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU",
       "no kernel image is available for execution on the device"},
      {214, "cudaErrorECCUncorrectable", "CUDA_ERROR_ECC_UNCORRECTABLE",
       "uncorrectable ECC error encountered"},
      {218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
      {221, "cudaErrorJitCompilerNotFound", "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
       "PTX JIT compiler library not found"},
      {222, "cudaErrorUnsupportedPtxVersion", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
       "the provided PTX was compiled with an unsupported toolchain."},
      {223, "cudaErrorJitCompilationDisabled", "CUDA_ERROR_JIT_COMPILATION_DISABLED",
       "PTX JIT compilation was disabled"},
      {225, "cudaErrorUnsupportedDevSideSync", "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", ""},
      {304, "cudaErrorOperatingSystem", "CUDA_ERROR_OPERATING_SYSTEM",
       "OS call failed or operation not supported on this OS"},
      {400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", ""},
      {500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
      {700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
       "an illegal memory access was encountered"},
      {701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
       "too many resources requested for launch"},
      {710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
      {719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
      {800, "", "CUDA_ERROR_NOT_PERMITTED", ""},
      {801, "", "CUDA_ERROR_NOT_SUPPORTED", ""},
      {802, "cudaErrorSystemNotReady", "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
      {803, "cudaErrorSystemDriverMismatch", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
       "system has unsupported display driver / cuda driver combination"},
      {804, "cudaErrorCompatNotSupportedOnDevice", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
       "forward compatibility was attempted on non supported HW"},
      {805, "cudaErrorMpsConnectionFailed", "CUDA_ERROR_MPS_CONNECTION_FAILED",
       "MPS client failed to connect to the MPS control daemon or the MPS server"},
      {806, "cudaErrorMpsRpcFailure", "CUDA_ERROR_MPS_RPC_FAILURE", ""},
      {807, "cudaErrorMpsServerNotReady", "CUDA_ERROR_MPS_SERVER_NOT_READY", ""},
      {808, "cudaErrorMpsMaxClientsReached", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", ""},
      {999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", ""},
  };
  return kErrors;
}

std::string error_name(int code) {
  const ErrorNames* names = find_names(code);
  return names == nullptr ? std::string() : names->runtime;
}

std::string error_text(int code) {
  const std::string name = error_name(code);
  return "error " + std::to_string(code) + (name.empty() ? "" : ", " + name);
}

std::string cuda_error_name(int code) {
  const ErrorNames* names = find_names(code);
  return names == nullptr ? std::string() : names->driver;
}

}  // namespace archguard
