#include "image/builtin_functions.h"

#include "base/text.h"

namespace archguard {
namespace {

struct BuiltinFunction {
  std::string_view name;
  Version since;
};

constexpr BuiltinFunction kBuiltinFunctions[] = {
    {"__assertfail", {}},
    {"__profile", {}},
    {"free", {}},
    {"malloc", {}},
    {"vprintf", {}},
    // What libcudadevrt calls (CUDA dynamic parallelism).
    {"cnpCtxSynchronize", {}},
    {"cnpDeviceGetAttribute", {}},
    {"cnpDeviceGetName", {}},
    {"cnpEventCreate", {}},
    {"cnpEventDestroy", {}},
    {"cnpEventRecord", {}},
    {"cnpFuncGetAttribute", {}},
    {"cnpGetCacheConfig", {}},
    {"cnpGetDevice", {}},
    {"cnpGetDeviceCount", {}},
    {"cnpGetLastError", {}},
    {"cnpGetLimit", {}},
    {"cnpGetParameterBuffer", {}},
    {"cnpGetParameterBufferV2", {}},
    {"cnpGetSharedMemConfig", {}},
    {"cnpLaunchDevice", {}},
    {"cnpLaunchDeviceV2", {}},
    {"cnpSetLastError", {}},
    {"cnpStreamCreate", {}},
    {"cnpStreamDestroy", {}},
    {"cnpStreamWaitEvent", {}},
    // CUDA graphs that device code launches, conditional nodes, nodes that the device updates.
    {"cudaGraphLaunch", {12, 0}},
    {"cudaGraphSetConditional", {12, 3}},
    {"cudaGraphKernelNodeSetEnabled", {12, 4}},
    {"cudaGraphKernelNodeSetGridDim", {12, 4}},
    {"cudaGraphKernelNodeSetParam", {12, 4}},
    {"cudaGraphKernelNodeUpdatesApply", {12, 4}},
};

}  // namespace

std::optional<Version> builtin_function_since(std::string_view name) {
  // Whatever stands behind it: __cuda_syscall_aligned_malloc of a `new` for an aligned type.
  if (starts_with(name, "__cuda_syscall")) return Version{};
  for (const BuiltinFunction& function : kBuiltinFunctions)
    if (function.name == name) return function.since;
  return std::nullopt;
}

bool is_printing_function(std::string_view name) {
  return name == "vprintf" || name == "__assertfail";
}

bool add_call(std::optional<DriverFunction>& newest, std::string_view name) {
  const auto since = builtin_function_since(name);
  if (!since) return false;
  if (*since != Version{} && (!newest || newest->since < *since))
    newest = DriverFunction{std::string(name), *since};
  return true;
}

}  // namespace archguard
