#include "compat/driver_functions.h"

#include "base/text.h"

namespace archguard {
namespace {

struct FunctionsOfCuda {
  Version first;
  std::string_view names;  // with one blank between two
};

// As cudaTypedefs.h of CUDA 13.5 has them (PFN_cuGreenCtxCreate_v12040); the second version of a function is
// exported as `_v2`. So do cuda.h of 11.8, 13.0 and 13.5 declare them, and libcuda of 535.261 (CUDA 12.2)
// export them: real.driver_functions.
constexpr FunctionsOfCuda kFunctionsOfCuda[] = {
    {{10, 1},
     "cuGraphExecKernelNodeSetParams cuStreamBeginCapture_v2 cuStreamGetCaptureInfo "
     "cuThreadExchangeStreamCaptureMode"},
    {{10, 2},
     "cuDeviceGetNvSciSyncAttributes cuGraphExecHostNodeSetParams cuGraphExecMemcpyNodeSetParams "
     "cuGraphExecMemsetNodeSetParams cuGraphExecUpdate cuMemAddressFree cuMemAddressReserve "
     "cuMemCreate cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity "
     "cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease "
     "cuMemSetAccess cuMemUnmap cuOccupancyAvailableDynamicSMemPerBlock"},
    {{11, 0},
     "cuCtxResetPersistingL2Cache cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 "
     "cuDevicePrimaryCtxSetFlags_v2 cuFuncGetModule cuGraphInstantiate_v2 "
     "cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute "
     "cuIpcOpenMemHandle_v2 cuMemRetainAllocationHandle cuStreamCopyAttributes "
     "cuStreamGetAttribute cuStreamSetAttribute"},
    {{11, 1},
     "cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth cuEventRecordWithFlags "
     "cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphEventRecordNodeGetEvent "
     "cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent "
     "cuGraphExecChildGraphNodeSetParams cuGraphExecEventRecordNodeSetEvent "
     "cuGraphExecEventWaitNodeSetEvent cuGraphUpload cuMemMapArrayAsync "
     "cuMipmappedArrayGetSparseProperties"},
    {{11, 2},
     "cuArrayGetPlane cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool "
     "cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode "
     "cuGraphExecExternalSemaphoresSignalNodeSetParams "
     "cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExternalSemaphoresSignalNodeGetParams "
     "cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams "
     "cuGraphExternalSemaphoresWaitNodeSetParams cuMemAllocAsync cuMemAllocFromPoolAsync "
     "cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy cuMemPoolExportPointer "
     "cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute "
     "cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess "
     "cuMemPoolSetAttribute cuMemPoolTrimTo"},
    {{11, 3},
     "cuFlushGPUDirectRDMAWrites cuGetProcAddress cuGraphDebugDotPrint cuGraphReleaseUserObject "
     "cuGraphRetainUserObject cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies "
     "cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain"},
    {{11, 4},
     "cuCtxCreate_v3 cuCtxGetExecAffinity cuDeviceGetExecAffinitySupport "
     "cuDeviceGetGraphMemAttribute cuDeviceGetUuid_v2 cuDeviceGraphMemTrim "
     "cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode cuGraphAddMemFreeNode "
     "cuGraphInstantiateWithFlags cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams"},
    {{11, 6},
     "cuArrayGetMemoryRequirements cuGraphNodeGetEnabled cuGraphNodeSetEnabled cuLaunchKernelEx "
     "cuMipmappedArrayGetMemoryRequirements"},
    {{11, 7},
     "cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams "
     "cuGraphExecBatchMemOpNodeSetParams cuMemGetHandleForAddressRange cuModuleGetLoadingMode "
     "cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize cuStreamBatchMemOp_v2 "
     "cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2 "
     "cuStreamWriteValue64_v2"},
    {{12, 0},
     "cuCtxGetId cuGetProcAddress_v2 cuGraphAddKernelNode_v2 cuGraphExecGetFlags "
     "cuGraphExecKernelNodeSetParams_v2 cuGraphExecUpdate_v2 cuGraphInstantiateWithParams "
     "cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetParams_v2 cuKernelGetAttribute "
     "cuKernelGetFunction cuKernelSetAttribute cuKernelSetCacheConfig cuLibraryGetGlobal "
     "cuLibraryGetKernel cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction "
     "cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuStreamGetId "
     "cuTensorMapEncodeIm2col cuTensorMapEncodeTiled cuTensorMapReplaceAddress"},
    {{12, 1},
     "cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute "
     "cuCoredumpSetAttributeGlobal cuCtxSetFlags cuMulticastAddDevice cuMulticastBindAddr "
     "cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind"},
    {{12, 2},
     "cuGraphAddNode cuGraphExecNodeSetParams cuGraphNodeSetParams cuMemAdvise_v2 "
     "cuMemPrefetchAsync_v2"},
    {{12, 3},
     "cuFuncGetName cuGraphAddDependencies_v2 cuGraphAddNode_v2 cuGraphConditionalHandleCreate "
     "cuGraphGetEdges_v2 cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 "
     "cuGraphRemoveDependencies_v2 cuKernelGetName cuStreamBeginCaptureToGraph "
     "cuStreamGetCaptureInfo_v3 cuStreamUpdateCaptureDependencies_v2"},
    {{12, 4},
     "cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount "
     "cuDeviceGetDevResource cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification "
     "cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuGreenCtxCreate cuGreenCtxDestroy "
     "cuGreenCtxGetDevResource cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuKernelGetParamInfo "
     "cuLibraryEnumerateKernels cuLibraryGetKernelCount cuModuleEnumerateFunctions "
     "cuModuleGetFunctionCount cuStreamGetGreenCtx"},
    {{12, 5},
     "cuCtxCreate_v4 cuCtxRecordEvent cuCtxWaitEvent cuGreenCtxStreamCreate cuKernelGetLibrary "
     "cuStreamGetCtx_v2"},
    {{12, 6}, "cuMemBatchDecompressAsync"},
    {{12, 8},
     "cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId "
     "cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore "
     "cuCheckpointProcessUnlock cuEventElapsedTime_v2 cuMemcpy3DBatchAsync cuMemcpyBatchAsync "
     "cuStreamGetDevice cuTensorMapEncodeIm2colWide"},
    {{12, 9},
     "cuGreenCtxGetId cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback "
     "cuLogsUnregisterCallback"},
    {{13, 0},
     "cuCtxGetDevice_v2 cuCtxSynchronize_v2 cuDeviceGetHostAtomicCapabilities "
     "cuDeviceGetP2PAtomicCapabilities cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync "
     "cuMemGetDefaultMemPool cuMemGetMemPool cuMemPrefetchBatchAsync cuMemSetMemPool "
     "cuMemcpy3DBatchAsync_v2 cuMemcpyBatchAsync_v2"},
    {{13, 1},
     "cuDevSmResourceSplit cuGraphExecGetId cuGraphGetId cuGraphNodeGetContainingGraph "
     "cuGraphNodeGetLocalId cuGraphNodeGetToolsId cuLaunchHostFunc_v2 cuMulticastBindAddr_v2 "
     "cuMulticastBindMem_v2 cuStreamBeginCaptureToCig cuStreamEndCaptureToCig "
     "cuStreamGetDevResource"},
    {{13, 2},
     "cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback "
     "cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuFuncGetParamCount "
     "cuGraphNodeGetParams cuKernelGetParamCount cuMemcpy3DWithAttributesAsync "
     "cuMemcpyWithAttributesAsync"},
    {{13, 3},
     "cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem "
     "cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport "
     "cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve "
     "cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind "
     "cuStreamBeginRecaptureToGraph"},
    {{13, 4},
     "cuCheckpointOperationComplete cuDeviceGetCliqueCount cuDeviceGetCliqueInfo "
     "cuDeviceGetFabricClusterUuid cuGraphAddNode_v3 cuGraphNodeSetParams_v2 cuMemGetLocationInfo"},
    {{13, 5}, "cuFabricCpyBatchAsync cuTensorMapSetAllocationClass"},
};

bool stands_among(std::string_view names, std::string_view name) {
  for (auto at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

std::optional<Version> first_driver_with(std::string_view function) {
  for (const std::string_view ending : {"_ptsz", "_ptds"})
    if (ends_with(function, ending)) function.remove_suffix(ending.size());
  if (function.empty()) return std::nullopt;
  for (const FunctionsOfCuda& each : kFunctionsOfCuda)
    if (stands_among(each.names, function)) return each.first;
  return std::nullopt;
}

}  // namespace archguard
