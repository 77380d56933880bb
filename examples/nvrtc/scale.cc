// Doubles numbers on the GPU, with a kernel that NVRTC compiles at run time.
//
//   scale                    for the GPU of this machine
//   scale --compile CC FILE  writes what it would load on a device of that compute capability; needs no GPU
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <fstream>
#include <nvrtc.h>
#include <string>
#include <vector>

namespace {

const char* const kSource = R"(
extern "C" __global__ void scale(int count, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= 2;
}
)";

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "scale: %s\n", text.c_str());
  std::exit(1);
}
void check(nvrtcResult result, const char* step) {
  if (result != NVRTC_SUCCESS) fail(std::string(step) + ": " + nvrtcGetErrorString(result));
}
void check(cudaError_t error, const char* step) {
  if (error != cudaSuccess)
    fail(std::string(step) + ": error " + std::to_string(error) + ": " + cudaGetErrorString(error));
}

// What this NVRTC compiles for on a device of capability 90 (9.0): SASS where it knows the device, else PTX
// of the newest architecture below it, which the driver compiles. It may know none: NVRTC 13 serves 7.5 and
// newer.
std::string choose_arch(int device) {
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "count architectures");
  std::vector<int> archs(static_cast<std::size_t>(count));
  check(nvrtcGetSupportedArchs(archs.data()), "list architectures");
  if (std::find(archs.begin(), archs.end(), device) != archs.end()) return "sm_" + std::to_string(device);
  int below = 0;
  for (const int arch : archs)
    if (arch < device) below = std::max(below, arch);
  if (below == 0) {
    int major = 0, minor = 0;
    check(nvrtcVersion(&major, &minor), "ask for the version");
    fail("NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " makes nothing for capability " +
         std::to_string(device / 10) + "." + std::to_string(device % 10));
  }
  return "compute_" + std::to_string(below);
}

std::vector<char> compile(int device) {
  const std::string arch = choose_arch(device);
  const std::string option = "--gpu-architecture=" + arch;
  const char* const options[] = {option.c_str()};
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr), "create the program");
  check(nvrtcCompileProgram(program, 1, options), "compile the kernel");
  const bool sass = arch[0] == 's';
  std::size_t size = 0;
  check(sass ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size),
        "ask for the image's size");
  std::vector<char> image(size);
  check(sass ? nvrtcGetCUBIN(program, image.data()) : nvrtcGetPTX(program, image.data()), "take the image");
  check(nvrtcDestroyProgram(&program), "destroy the program");
  return image;
}

void run() {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "ask for the device");
  const std::vector<char> image = compile(device.major * 10 + device.minor);
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "load the kernel");
  check(cudaLibraryGetKernel(&kernel, library, "scale"), "find the kernel");
  int count = 1000;
  float* x = nullptr;
  check(cudaMallocManaged(reinterpret_cast<void**>(&x), sizeof(float) * 1000, cudaMemAttachGlobal),
        "allocate");
  for (int i = 0; i < count; ++i) x[i] = 1;
  void* arguments[] = {&count, &x};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3{8, 1, 1}, dim3{128, 1, 1}, arguments, 0,
                         nullptr),
        "launch the kernel");
  check(cudaDeviceSynchronize(), "run the kernel");
  const auto right = std::count(x, x + count, 2.0F);
  std::printf("scale: %d numbers, %d right\n", count, static_cast<int>(right));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--compile") == 0) {
    const std::string capability = argv[2];  // X.Y
    const auto dot = capability.find('.');
    if (dot == std::string::npos) fail("a compute capability such as 9.0 is missing");
    const int device = std::atoi(capability.c_str()) * 10 + std::atoi(capability.c_str() + dot + 1);
    const std::vector<char> image = compile(device);
    std::ofstream file(argv[3], std::ios::binary);
    file.write(image.data(), static_cast<std::streamsize>(image.size()));
    if (!file.flush()) fail(std::string(argv[3]) + " cannot be written");
    return 0;
  }
  if (argc != 1) fail("usage: scale [--compile CC FILE]");
  run();
  return 0;
}
