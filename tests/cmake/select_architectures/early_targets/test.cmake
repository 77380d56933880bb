# Targets that were made before the call keep CMake's default. Named once, whether the tree is new or not; none that has
# no CUDA code, chose its own list or got one after all, nor any made between two calls.
needs_nvcc(13.0)
set(select "archguard_select_architectures")
foreach(time IN ITEMS first second)
  configure(ARGS -DRIGHT=OFF -DCUDA_LAST=OFF)
  warns("${select}: built for 75, since they were made before the call: early, below \
fix: call ${select} before the first target, or set_target_properties(early below PROPERTIES CUDA_ARCHITECTURES \"80-real;80-virtual\")")
endforeach()
configure(ARGS -DRIGHT=ON)
warns()
configure(ARGS -DRIGHT=OFF -DCMAKE_CUDA_ARCHITECTURES=80)
warns()

# Where there was no list at all CMake stops, and does not say that the call came too late.
file(REMOVE_RECURSE "${BUILD}")
configure(FAILS ARGS -DRIGHT=OFF -DCUDA_LAST=ON)
warns("${select}: built without a list of architectures, since they were made before the call: early \
fix: call ${select} before the first target, or set_target_properties(early PROPERTIES CUDA_ARCHITECTURES \"80-real;80-virtual\")")
says("CUDA_ARCHITECTURES is empty for target \"early\".")
