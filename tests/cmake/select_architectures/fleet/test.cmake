needs_nvcc(13.0)

configure(ARGS -DFLEETS=a.csv -DMORE=)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual"
  "for the devices of a.csv, with <nvcc>")
warns()
says("architectures: 80-real;80-virtual")

# Several files, and a device that CUDA 13 cannot support: a fleet that was named is a promise.
set(unserved "NVIDIA GeForce MX330 (6.1, b.csv:3): CUDA ${NVCC_VERSION} makes nothing that runs on 6.1; the last toolkit that does is 12.9 \
the toolkits that support the whole fleet: 11.8 to 12.9 with SASS for each device; 8.0 to 11.7 with PTX for some")
configure(FAILS ARGS "-DFLEETS=a.csv;b.csv")
errs("archguard_select_architectures: not every device of the fleet is supported: ${unserved} \
fix: build with such a toolkit; or add a column excluded to the fleet file, and write there why the device is left out; or say \
ON_UNSUPPORTED warn, or -DARCHGUARD_ON_UNSUPPORTED=warn")
configure(ARGS "-DFLEETS=a.csv;b.csv" "-DMORE=ON_UNSUPPORTED;warn")
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;90-virtual"
  "for the devices of a.csv, b.csv, with <nvcc>")
warns("archguard_select_architectures: left out, as nothing built here will run there: ${unserved}")
configure(ARGS -DMORE= -DARCHGUARD_ON_UNSUPPORTED=Warn)
warns("archguard_select_architectures: left out, as nothing built here will run there: ${unserved}")
configure(FAILS ARGS "-DMORE=ON_UNSUPPORTED;warn" -DARCHGUARD_ON_UNSUPPORTED=error)
configure(FAILS ARGS -DARCHGUARD_ON_UNSUPPORTED=loud)
errs("archguard_select_architectures: ARCHGUARD_ON_UNSUPPORTED is 'loud'; it takes one of error, warn")
configure(ARGS -UARCHGUARD_ON_UNSUPPORTED)

# However many devices a model has, it is told once.
set(lines "name, compute_cap\n")
foreach(i RANGE 199)
  string(APPEND lines "NVIDIA A100, 8.0\nTesla P100, 6.0\n")
endforeach()
file(WRITE "${SOURCE}/many.csv" "${lines}")
configure(FAILS ARGS -DFLEETS=many.csv -DMORE=)
errs("archguard_select_architectures: not every device of the fleet is supported: Tesla P100 (6.0, many.csv:3) and 199 more like \
it: CUDA ${NVCC_VERSION} makes nothing that runs on 6.0; the last toolkit that does is 12.9 the toolkits that support the whole fleet: \
11.0 to 12.9 with SASS for each device; 8.0 to 10.2 with PTX for some fix: build with such a toolkit; or add a column excluded to \
the fleet file, and write there why the device is left out; or say ON_UNSUPPORTED warn, or -DARCHGUARD_ON_UNSUPPORTED=warn")
configure(ARGS -DFLEETS=many.csv -DCMAKE_CUDA_ARCHITECTURES=90 "-DMORE=ON_UNSUPPORTED;warn")
says("error 209 on NVIDIA A100 (8.0, many.csv:2) and 199 more like it: ")
configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE "-DFLEETS=a.csv;b.csv" "-DMORE=ON_UNSUPPORTED;warn")

# For projects that read the list as numbers.
configure(ARGS "-DMORE=ON_UNSUPPORTED;warn;SPELLING;plain")
says("architectures: 80;90 ")
configure(FAILS ARGS "-DMORE=SPELLING;plain;PTX;none")
errs("archguard_select_architectures: SPELLING plain and PTX none exclude each other, for a plain 80 asks for SASS and PTX")

# A device that the fleet itself leaves out is told with its reason, and brings no warning.
file(WRITE "${SOURCE}/card.csv" "name, compute_cap, excluded\nNVIDIA A100, 8.0,\nGeForce GT 710, 3.5, \"old; a display, too\"\n")
configure(ARGS -DFLEETS=card.csv "-DMORE=ON_UNSUPPORTED;error")
tells("left out: GeForce GT 710 (3.5, card.csv:3): old, a display, too"
  "CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual"
  "for the devices of card.csv, with <nvcc>")
warns()

# SASS with a suffix, where this CMake knows it.
if(CMAKE_VERSION VERSION_LESS 3.25)
  configure(FAILS ARGS "-DFLEETS=a.csv;b.csv" "-DMORE=ON_UNSUPPORTED;warn;SUFFIX;a")
  errs("archguard_select_architectures: SUFFIX a needs CMake 3.25 or newer, this is ${CMAKE_VERSION}; leave it out, or use a \
newer CMake")
else()
  configure(ARGS "-DFLEETS=a.csv;b.csv" "-DMORE=ON_UNSUPPORTED;warn;SUFFIX;a;PTX;none")
  says("architectures: 80-real;90a-real ")
endif()

# The policies reach arch_probe, and the reasons are there for those who ask.
configure(ARGS -DFLEETS=a.csv "-DMORE=PTX;none" --log-level=VERBOSE)
says("architectures: 80-real ")
says("-- ArchGuard: the reasons 80-real NVIDIA A100 (8.0, a.csv:2)")

# A bad line stops, with its place.
configure(FAILS ARGS -DFLEETS=bad.csv -DMORE=)
errs("archguard_select_architectures: no architectures were chosen arch_probe: error: bad.csv:2: \
compute_cap is 'eight', expected X.Y such as 8.6, or [N/A]")
