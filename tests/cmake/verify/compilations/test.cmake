# The ways to compile device code: raw flags, flags of one source, relocatable code, device LTO, and files of one kind of
# image that a program loads at run time.
needs_nvcc(13.0)
set(keep_going "")
if(GENERATOR MATCHES "Ninja")
  set(keep_going -- -k 0)
elseif(GENERATOR MATCHES "Makefiles")
  set(keep_going -- -k)
endif()

# Some toolkits were put together without what links LTO.
set(link_lto OFF)
execute_process(COMMAND "${NVCC}" -dc -gencode=arch=compute_80,code=lto_80 "${SOURCE}/shift.cu" -o "${WORK}/lto.o"
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
  execute_process(COMMAND "${NVCC}" -dlto -arch=sm_80 -dlink "${WORK}/lto.o" -o "${WORK}/linked.o"
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(link_lto ON)
  endif()
endif()

configure(ARGS -DLINK_LTO=${link_lto})
build(FAILS ARGS ${keep_going})
foreach(file IN ITEMS libraw.so whole libwhole_shared.so libresolved.a libpart.a CMakeFiles/ptx.dir/scale.ptx)
  says("<build>/${file}: 2 of 2 covered")
endforeach()
says("archguard: note: target 'idle' holds device code without a kernel or a variable that host code can name")
says("kernel 'scale(float*)' cannot run on NVIDIA A100 (8.0, fleet.csv:2)")
says("fix: add 80-real to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode=arch=compute_80,code=sm_80; TORCH_CUDA_ARCH_LIST: 8.0)")
says("archguard: error: target 'too_few' does not cover every device")
says("kernel 'shift(float*)' cannot run on NVIDIA H100 (9.0, fleet.csv:3)")
says("archguard: error: target 'per_source' does not cover every device")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
  says("<build>/liblto_part.a: 2 of 2 covered")
  if(link_lto)
    says("<build>/lto_whole: 2 of 2 covered")
  endif()
endif()
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.27)
  says("<build>/CMakeFiles/fatbin.dir/scale.fatbin: 2 of 2 covered")
  says("<build>/CMakeFiles/cubin.dir/scale.cubin: 1 of 2 covered")  # a cubin is for one device alone
  says("archguard: error: target 'cubin' does not cover every device")
endif()
