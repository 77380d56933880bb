#pragma once

#include <string>
#include <vector>

namespace archguard {

// CUDA's numbers for what a user would see.
// (cuda.h: CUDA_ERROR_NO_BINARY_FOR_GPU, _INVALID_PTX, _UNSUPPORTED_PTX_VERSION, _INVALID_IMAGE,
// _JIT_COMPILATION_DISABLED, _UNSUPPORTED_DEVSIDE_SYNC, _NOT_FOUND;
// driver_types.h: cudaErrorInvalidDeviceFunction, cudaErrorInvalidSymbol, cudaErrorNoDevice.)
inline constexpr int kNoKernelImage = 209;
inline constexpr int kInvalidPtx = 218;
inline constexpr int kUnsupportedPtxVersion = 222;
inline constexpr int kInvalidKernelImage = 200;
inline constexpr int kInvalidDeviceFunction = 98;
inline constexpr int kSymbolNotFound = 500;
inline constexpr int kInvalidSymbol = 13;
inline constexpr int kInsufficientDriver = 35;
inline constexpr int kNoDevice = 100;
inline constexpr int kJitDisabled = 223;
inline constexpr int kUnsupportedDeviceSync = 225;

// "cudaErrorInsufficientDriver", as the CUDA runtime names it; empty where the table below has no such name.
std::string error_name(int code);
// "error 35, cudaErrorInsufficientDriver"
std::string error_text(int code);
// "CUDA_ERROR_NO_DEVICE", as the driver names it; empty where the table below has no such name.
std::string cuda_error_name(int code);

// The numbers that are about architectures and drivers, or that a driver which fails returns.
struct ErrorNames {
  int code;
  const char* runtime;  // driver_types.h; may be empty, as all that follow
  const char* driver;   // cuda.h, enum cudaError_enum
  const char* message;  // what cudaGetErrorString() says, where that tells the error from others
};
const std::vector<ErrorNames>& known_errors();

}  // namespace archguard
