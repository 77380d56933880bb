# A choice stays whose it was on every later configure, though CMake writes a default of its own into the cache.
needs_nvcc(13.0)

function(stays)
  configure()
  says("architectures: 80-real;80-virtual")
  tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
  warns()
endfunction()

foreach(cuda_first IN ITEMS OFF ON)
  file(REMOVE_RECURSE "${BUILD}")
  configure(ARGS -DCUDA_FIRST=${cuda_first})
  says("architectures: 80-real;80-virtual")
  stays()
  stays()
  # Now the user speaks.
  configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real)
  says("architectures: 80-real ")
  configure()
  says("architectures: 80-real ")
  # ... and gives the choice back.
  configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE)
  says("architectures: 80-real;80-virtual")
  stays()
endforeach()

# CUDAARCHS is read once, and looks like CMake's default ever after.
file(REMOVE_RECURSE "${BUILD}")
configure(ENV CUDAARCHS=80 ARGS -DCUDA_FIRST=ON)
tells("the list is the user's (the environment variable CUDAARCHS): 80")
configure()
says("the list is the user's")
says("architectures: 80 ")
