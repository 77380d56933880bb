# A library that is replaced by an older one: every date says that nothing changed, and the old success must not stand.
needs_nvcc(13.0)
set(out "<build>")
if(GENERATOR MATCHES "Multi-Config")
  set(out "<build>/Debug")
endif()
function(make_library name arch)
  run(COMMAND "${NVCC}" -shared -Xcompiler -fPIC "-arch=${arch}" "${SOURCE}/math.cu" -o "${SOURCE}/${name}"
    -Xlinker -soname=libmath.so)
endfunction()
make_library(worse.so compute_90)
run(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)  # file times of some systems count seconds
make_library(libmath.so sm_80)
configure()
build()
says("<source>/libmath.so, needed by ${out}/app: 1 of 1 covered")
build()
says_not("verifying")

run(COMMAND mv "${SOURCE}/worse.so" "${SOURCE}/libmath.so")  # keeps its date, as package managers do
build(FAILS)
says_not("Linking")
says("archguard: error: target 'app' needs libraries that do not cover every device")
build(FAILS)
