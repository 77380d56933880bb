# The libraries of others that a target links, directly and through each other.
needs_nvcc(13.0)
set(out "<build>")
if(GENERATOR MATCHES "Multi-Config")
  set(out "<build>/Debug")
endif()
function(make_library name arch)
  run(COMMAND "${NVCC}" -shared -Xcompiler -fPIC "-arch=${arch}" "${SOURCE}/vendor/${name}.cu"
    -o "${SOURCE}/vendor/${folder}/lib${name}.so" ${ARGN})
endfunction()
set(folder "é")  # nothing of a name is lost on its way into the rules of the build
file(MAKE_DIRECTORY "${SOURCE}/vendor/${folder}")
make_library(inner sm_80)  # with PTX
set(inner "<source>/vendor/${folder}/libinner.so")
set(inner_options "-L${SOURCE}/vendor/${folder}" -linner -Xlinker "-rpath=\$ORIGIN/${folder}")
set(folder ".")
make_library(math sm_80 ${inner_options})
set(folder "é")

configure(ARGS -DARGUMENTS=TEST)
build()
says("${out}/app: 2 of 2 covered <source>/vendor/libmath.so, needed by ${out}/app: 2 of 2 covered \
${inner}, needed by <source>/vendor/libmath.so: 2 of 2 covered")
says("<source>/vendor/libmath.so, needed by ${out}/host: 2 of 2 covered")
build()
says_not("verifying")

# Another build of a library is judged at once, although nothing links it directly.
run(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)  # file times of some systems count seconds
make_library(inner compute_90)
build(FAILS)
says("error 209: ${inner}(.nv_fatbin+0x10): kernel 'inner_kernel(int*)' cannot run on \
NVIDIA A100 (8.0, fleet.csv:2)")
says("fix: use a build of this library that holds sm_80")
says_not("Building CUDA")
build(FAILS ARGS --target archguard_verify_app)  # and no success is left behind
says("archguard: error: target 'app' needs libraries that do not cover every device")
run(FAILS COMMAND "${CMAKE_COMMAND}" -E chdir "${BUILD}" "${CMAKE_CTEST_COMMAND}" -C Debug -R verify.app --output-on-failure)
says("archguard: error: target 'app' needs libraries that do not cover every device")

configure(ARGS "-DARGUMENTS=NEEDED;warn")
build()
says("archguard: warning: target 'app' needs libraries that do not cover every device")
says("archguard: warning: target 'host' needs libraries that do not cover every device")

# Without a look at them the host program has nothing to check.
configure(ARGS "-DARGUMENTS=NEEDED;off")
build(FAILS)
says("archguard: error: target 'host' has no device code: leave it out of TARGETS, or give it CUDA sources")

# One that is not there may hold anything.
make_library(inner sm_80)
configure(ARGS "-DARGUMENTS=NEEDED;error")
build()
file(REMOVE "${SOURCE}/vendor/${folder}/libinner.so")
build(FAILS)
says("archguard: error: <source>/vendor/libmath.so: needs libinner.so, which is not found; looked in ")
says(", <source>/vendor/${folder}, /etc/ld.so.cache, ")
build(FAILS ARGS --target archguard_verify_app)
says("archguard: error: target 'app' needs libraries that could not be judged (NEEDED warn lets the build go on)")

# Nobody named the host program, but one of its libraries holds code: it is a program for a GPU.
make_library(inner sm_80)
configure(ARGS -DWHICH=ALL)
build()
file(REMOVE "${SOURCE}/vendor/${folder}/libinner.so")
build(FAILS)
says("archguard: error: target 'host' needs libraries that could not be judged (NEEDED warn lets the build go on)")
says("archguard: error: target 'app' needs libraries that could not be judged (NEEDED warn lets the build go on)")

# What is proved of one library does not hang on another that is not found; and another place of libraries is asked anew.
make_library(inner compute_90)
file(MAKE_DIRECTORY "${WORK}/older")
run(COMMAND "${NVCC}" -shared -Xcompiler -fPIC -arch=sm_80 "${SOURCE}/vendor/inner.cu" -o "${WORK}/older/libinner.so")
build(FAILS)
says("archguard: error: target 'host' needs libraries that do not cover every device")
file(RENAME "${SOURCE}/vendor/${folder}/libinner.so" "${WORK}/libinner.so")
build(FAILS)
build(ENV "LD_LIBRARY_PATH=${WORK}/driver:${WORK}/older")
says("${WORK}/older/libinner.so, needed by <source>/vendor/libmath.so: 2 of 2 covered")

# Where no library that was found holds code, it may be no program for a GPU at all.
file(WRITE "${WORK}/math.cc" "void math() {}\n")
run(COMMAND g++ -shared -fPIC "${WORK}/math.cc" -Wl,--no-as-needed "-L${WORK}/older" -linner -o "${SOURCE}/vendor/libmath.so")
build(FAILS)  # by the other program
says_not("archguard: error: target 'host'")
says("archguard: warning: target 'host' needs libraries that could not be judged (NEEDED warn lets the build go on)")
