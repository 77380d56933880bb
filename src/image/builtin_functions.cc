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
    {"vfprintf", {}},
    {"vprintf", {}},
    // What libcudadevrt calls (CUDA dynamic parallelism).
    {"cnpCtxSynchronize", {}},
    {"cnpDeviceGetAttribute", {}},
    {"cnpDeviceGetName", {}},
    {"cnpDeviceGetTotalMem", {}},
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
    // Errors of the fabric, parts of a grid, copies and shared memory.
    {"cudaFabricOpErrorStatusCount", {13, 3}},
    {"cudaFabricOpErrorStatusGet", {13, 3}},
    {"cudaSubgridScheduleManageWarpSpecializedWorkspaceAndDependencies", {13, 3}},
    {"cudaSubgridSynchronousWorkspaceAdvanceWorkset", {13, 3}},
    {"cudaSubgridSynchronousWorkspaceCompleteAndFetchWorkItem", {13, 3}},
    {"cudaSubgridSynchronousWorkspaceGetWorksetUserData", {13, 3}},
    {"cudaSubgridSynchronousWorkspaceInitialize", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceAdvanceWorkset", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceCompleteWorkItem", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceFetchWorkItem", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceGetWorksetUserData", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceInitialize", {13, 3}},
    {"cudaSubgridWarpSpecializedWorkspaceWaitOnWorkItemDependencies", {13, 3}},
    {"cudaDeviceMemcpyAsync", {13, 5}},
    {"cudaDeviceMemcpyBatchAsync", {13, 5}},
    {"cudaResizeSharedMemory", {13, 5}},
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
  return name == "vprintf" || name == "vfprintf" || name == "__assertfail";
}

bool add_call(std::optional<DriverFunction>& newest, std::string_view name) {
  const auto since = builtin_function_since(name);
  if (!since) return false;
  if (*since != Version{} && (!newest || newest->since < *since))
    newest = DriverFunction{std::string(name), *since};
  return true;
}

}  // namespace archguard
