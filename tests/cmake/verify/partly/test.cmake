# A library of others that has far fewer kernels for one device than for another.
needs_nvcc(13.0)
function(compile name)
  run(COMMAND "${NVCC}" -c -Xcompiler -fPIC "${SOURCE}/vendor/${name}.cu" -o "${SOURCE}/vendor/${name}.o" ${ARGN})
endfunction()
compile(main -gencode=arch=compute_80,code=sm_80)
compile(other -arch=sm_80)  # with PTX
run(COMMAND "${NVCC}" -shared "${SOURCE}/vendor/main.o" "${SOURCE}/vendor/other.o" -o "${SOURCE}/vendor/libmath.so")
set(told "<source>/vendor/libmath.so: not made for NVIDIA Jetson AGX Orin (8.7, fleet.csv:3): 1 of 10 kernels")

configure(ARGS "-DARGUMENTS=PARTLY;error")
build(FAILS)
says("archguard: error: ${told} cause: 8.0 gets 10 kernels of it, this device 1, all of them compiled from PTX \
fix: use a build of this library that was made for 8.7; --partly warn, if the program calls only what runs there")

configure(ARGS "-DARGUMENTS=PARTLY;warn")
build()
says("archguard: warning: ${told}")

configure(ARGS "-DARGUMENTS=PARTLY;off")
build()
says_not("not made for")

# A packager's word counts more, in any case.
configure(ARGS "-DARGUMENTS=PARTLY;off" -DARCHGUARD_PARTLY=ERROR)
build(FAILS)
says("archguard: error: ${told}")
