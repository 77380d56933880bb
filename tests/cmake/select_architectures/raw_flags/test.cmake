# Raw flags and the list that CMake puts beside them: what is told is what is built, with CUDA enabled before and after
# the call. CMake takes its default from a compilation with these flags, or takes none (policy CMP0104).
needs_nvcc(13.0)
set(gencode "-gencode arch=compute_80,code=sm_80")

#   makes(<list> <images in the object> <argument>...)
function(makes list images)
  file(REMOVE_RECURSE "${BUILD}")
  configure(ARGS ${compiler_options} -DLATE= -DMINIMUM=3.20 ${ARGN})
  foreach(time IN ITEMS first second)
    tells("the list is the user's (-gencode or -arch in CMAKE_CUDA_FLAGS): ${list}")
    warns("archguard_select_architectures: the user's list misses devices: \
error 209 on NVIDIA T4 (7.5, fleet.csv:3): nothing in the list runs on 7.5 \
fix: -DCMAKE_CUDA_ARCHITECTURES=\"${list};75-real\", and no -gencode or -arch in the flags")
    configure()
  endforeach()
  build()
  file(GLOB_RECURSE object "${BUILD}/*code.cu.o*")
  run(COMMAND "${PREFIX}/bin/archguard" inspect "${object}" --format json)
  string(JSON summary GET "${LAST}" files 0 summary)
  set(found "")
  foreach(kind IN ITEMS sass ptx)
    string(JSON count LENGTH "${summary}" ${kind})
    while(count GREATER 0)
      math(EXPR count "${count} - 1")
      string(JSON arch MEMBER "${summary}" ${kind} ${count})
      string(PREPEND found "${kind} ${arch} ")
    endwhile()
  endforeach()
  compare("images" "${found}" "${images} ")
endfunction()

foreach(cuda_first IN ITEMS OFF ON)
  makes(80 "ptx 80 sass 80" -DCUDA_FIRST=${cuda_first} -DCMAKE_CUDA_FLAGS=-arch=sm_80)
  makes(80 "ptx 80 sass 80" -DCUDA_FIRST=${cuda_first} "-DCMAKE_CUDA_FLAGS=${gencode}")
  makes(80-real "sass 80" -DCUDA_FIRST=${cuda_first} "-DCMAKE_CUDA_FLAGS=${gencode}" -DMINIMUM=3.17
    -DCMAKE_POLICY_DEFAULT_CMP0104=OLD)
endforeach()
