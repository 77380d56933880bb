# Names of files are names: never CMake code, a generator expression, or a part of a list.
needs_nvcc(13.0)
set(devices "name, compute_cap, driver_version\nNVIDIA A100, 8.0, 580.95.05\n")
file(WRITE "${SOURCE}/waivers/w]=]).csv" "kernel,compute_cap,reason\n")
foreach(name IN ITEMS "z]=])execute_process(COMMAND touch owned)set(x [=[.csv" "$<1:a>.csv" "a b #c.csv" "\"quoted\" $HOME.csv")
  file(REMOVE_RECURSE "${SOURCE}/fleets" "${BUILD}")
  file(WRITE "${SOURCE}/fleets/${name}" "${devices}")
  configure()
  build()
  says("<build>/app: 1 of 1 covered")
  run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/whole")
  says("bin/app: 1 of 1 covered")
  file(WRITE "${SOURCE}/fleets/${name}" "${devices}NVIDIA H100, 9.0, 580.95.05\n")
  build(FAILS)
  says("archguard: error: target 'app' does not cover every device")
  file(GLOB_RECURSE owned "${WORK}/*owned")
  if(owned)
    message(FATAL_ERROR "a name was run as code: ${owned}")
  endif()
endforeach()

# Folders whose names CMake's own lists and rules cannot hold: one sentence, and none of arch_probe's.
file(WRITE "${WORK}/configure.sh" "exec '${CMAKE_COMMAND}' -S '${SOURCE}' -B \"$1\" -G '${GENERATOR}' \
'-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}' '-DCMAKE_PREFIX_PATH=${PREFIX}'\n")
run(FAILS COMMAND sh "${WORK}/configure.sh" "${WORK}/b#")
errs("archguard_verify: CMake's build rules cannot hold the path ${WORK}/b#, for it has a '#'; use a folder without one")
run(FAILS COMMAND sh "${WORK}/configure.sh" "${WORK}/b]")
errs("archguard_verify: CMake's lists cannot hold the path ${WORK}/b], for a bracket of it has no other half; use a folder without \
brackets")
