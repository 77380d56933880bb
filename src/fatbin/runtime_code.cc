#include "fatbin/runtime_code.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "fatbin/dynamic_symbols.h"
#include "host/pe_imports.h"

namespace archguard::fatbin {
namespace {

// NVRTC ("NVRTC", 3.4 Compilation), the driver API ("Module Management", "Library Management"), and the
// runtime's Library Management, which CUDA 12.8 brought.
// The mangled ones are what cuDNN 9's engines for run-time compilation take from cuDNN's own loader of NVRTC
// (seen in 9.5 to 9.13), on Linux and on Windows.
constexpr std::string_view kNvrtc = "nvrtcCompileProgram", kNvrtcOfCudnn = "_ZN11nvrtcHelper4loadEv";
constexpr std::string_view kNvrtcOfCudnnDll = "?getNvrtcVersion@RuntimeKernel@fusion@cudnn@@QEBAHXZ";
constexpr std::string_view kFunctions[] = {
    kNvrtcOfCudnnDll,
    kNvrtcOfCudnn,
    "cuLibraryLoadData",
    "cuLibraryLoadFromFile",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cudaLibraryLoadData",
    "cudaLibraryLoadFromFile",
    kNvrtc,
};
constexpr std::size_t kRuntimeCodeNameMost = 64;  // longer than each of them

const std::string_view* function_of(std::string_view name) {
  const auto* const function = std::find(std::begin(kFunctions), std::end(kFunctions), name);
  return function == std::end(kFunctions) ? nullptr : function;
}

std::set<std::string_view> imports_of_elf(const ByteSource& source, const HostObject& host) {
  std::set<std::string_view> found;
  visit_wanted_symbols(source, host, kRuntimeCodeNameMost, [&](std::string_view name) {
    if (const std::string_view* function = function_of(name)) found.insert(*function);
    return true;
  });
  return found;
}

// What a damaged table told up to there is a note as well.
std::set<std::string_view> imports_of_pe(const ByteSource& source) {
  std::set<std::string_view> found;
  (void)visit_pe_functions(source, [&](std::string_view name) {
    if (const std::string_view* function = function_of(name)) found.insert(*function);
  });
  return found;
}

}  // namespace

std::vector<std::string> runtime_code_of(const ByteSource& source, const HostObject& host) {
  if (!host.linked) return {};
  std::set<std::string_view> found;
  if (host.format == HostFormat::elf) found = imports_of_elf(source, host);
  if (host.format == HostFormat::pe) found = imports_of_pe(source);
  return {found.begin(), found.end()};
}

bool compiles_code(const std::vector<std::string>& functions) {
  return std::any_of(functions.begin(), functions.end(), [](const std::string& function) {
    return function == kNvrtc || function == kNvrtcOfCudnn || function == kNvrtcOfCudnnDll;
  });
}

}  // namespace archguard::fatbin
