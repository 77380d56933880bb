# Programs and libraries say on the machine what they hold and what they met.
needs_nvcc(13.0)
set(machine "driver 580.95.05\ncuda 13000\ndevice cc=7.5 uuid=GPU-1 pci=0000:3B:00.0 name=Tesla T4\n")
set(met "holds code for 8.0; this machine has a Tesla T4 (7.5), driver CUDA 13.0: it needs a build with 75-real")
set(as_cxx -USIGNATURE -UKERNELS "-DLANGUAGES=CXX\;CUDA" -DCMAKE_CUDA_ARCHITECTURES=80-real)
set(with_nvml "LD_LIBRARY_PATH=${WORK}/driver:${FAKE_DRIVER}/nvml")
machine("${machine}")

# A program without a CUDA runtime is linked all the same.
configure(ARGS -DLANGUAGES=CXX "-DARGUMENTS=TARGETS;app;plugin")
build()
run(COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "")

# So is one whose subproject has a language of its own.
configure(ARGS -DLANGUAGES=CXX -DBELOW=C "-DARGUMENTS=TARGETS;app;plugin")
build()

# So is one whose project names what it links without PRIVATE, before the call and behind it.
configure(ARGS -DLANGUAGES=CXX -UBELOW -DSIGNATURE=plain "-DARGUMENTS=TARGETS;app;plugin")
tells()
build()

# By itself: nothing before the GPU is used, then one sentence of each file that uses it, and it goes on.
configure(ARGS ${as_cxx} "-DARGUMENTS=TARGETS;app::alias;plugin")
tells()
build()
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "app 2.1 ${met}\ngoes on\n")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" to plugin)
compare("output" "${LAST}" "plugin 2.1 ${met}\nplugin goes on\n")
machine("driver 580.95.05\ncuda 13000\ndevice cc=8.0 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA A100\n")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "goes on\n")

# A program whose kernels are the library's says nothing, the library what it holds. A table of such a program says so.
machine("${machine}")
foreach(table IN ITEMS "" ";TABLE")
  configure(ARGS ${as_cxx} -DKERNELS=library "-DARGUMENTS=TARGETS;app;plugin${table}")
  build()
  run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
  compare("output" "${LAST}" "plugin 2.1 ${met}\nplugin goes on\n")
endforeach()

# It ends the process, under a name of its own.
machine("${machine}")
configure(ARGS ${as_cxx} "-DARGUMENTS=TARGETS;app;ACTION;exit;NAME;our \"app\" 3%")
build()
run(FAILS ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "our 'app' 3' ${met}\n")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" to plugin)
compare("output" "${LAST}" "plugin goes on\n")

# The program asks, and nothing happens else. Here as C, which the project's analysers refuse.
configure(ARGS "-DLANGUAGES=C;CXX;CUDA" -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=TARGETS;app;ACTION;call"
  -DCMAKE_C_CLANG_TIDY=/bin/false -DCMAKE_C_CPPCHECK=/bin/false)
build()
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "goes on\n")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" ask)
compare("output" "${LAST}" "209: app 2.1 ${met}\n")

# By a table, without --wrap: what the program knows, it has from there.
configure(ARGS "-DLANGUAGES=C;CXX;CUDA" -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=TARGETS;app;ACTION;call;TABLE")
build()
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" ask)
compare("output" "${LAST}" "209: app 2.1 ${met}\n")
file(RENAME "${BUILD}${config}/app.preflight" "${BUILD}${config}/other.preflight")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" ask)
compare("output" "${LAST}" "0: app 2.1 cannot be judged; this machine has a Tesla T4 (7.5), driver CUDA 13.0: its table is not beside it: \
install the file there that has its name and ends with .preflight\n")

# Its action needs --wrap anyway, so a table that was left behind takes nothing away.
configure(ARGS ${as_cxx} "-DARGUMENTS=TARGETS;app;TABLE" -UCMAKE_C_CLANG_TIDY -UCMAKE_C_CPPCHECK)
build()
file(REMOVE "${BUILD}${config}/app.preflight")
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "app 2.1 ${met}\ngoes on\n")

# With -flto in the project's flags, and a linker that passes --wrap by in what is so compiled.
configure(ARGS ${as_cxx} "-DARGUMENTS=TARGETS;app" -DCMAKE_CXX_FLAGS=-flto -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold)
build()
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app")
compare("output" "${LAST}" "app 2.1 ${met}\ngoes on\n")

# With -rdc, and all that is linked made for size and without what is not used. Which error comes is not documented.
configure(ARGS ${as_cxx} "-DARGUMENTS=TARGETS;app" -UCMAKE_CXX_FLAGS -DCMAKE_CUDA_SEPARABLE_COMPILATION=ON -DCMAKE_EXE_LINKER_FLAGS=-s\ -Wl,--gc-sections)
build()
run(ENV ${with_nvml} COMMAND "${BUILD}${config}/app" ask)
compare("output" "${LAST}" "0: app 2.1 ${met}\n")

# What it refuses.
set(plain -DLANGUAGES=CXX)
configure(FAILS ARGS ${plain} "-DARGUMENTS=ACTION;warn")
errs("archguard_preflight: TARGETS is missing; name the executables and libraries that must look before they use a GPU")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app;ACTION;shout")
errs("archguard_preflight: ACTION 'shout' is not one of warn, exit, call")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app;NAME;issue #7")
errs("archguard_preflight: NAME 'issue #7' has '#', which CMake does not hand to compilers; leave it out")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app;NAME;$<1:x>")
errs("archguard_preflight: NAME '$<1:x>' has '$<', which CMake does not hand to compilers; leave it out")
configure(FAILS ARGS ${plain} -DNAME_WITH_SEMICOLON=ON "-DARGUMENTS=TARGETS;app")
errs("archguard_preflight: NAME 'a;b' has ';', which CMake does not hand to compilers; leave it out")
configure(FAILS ARGS ${plain} -UNAME_WITH_SEMICOLON "-DARGUMENTS=TARGETS;archive")
errs("archguard_preflight: target 'archive' is of type STATIC_LIBRARY, which no linker makes; name the targets that link it")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app;plugin" "-DMORE=TARGETS;app::alias")
errs("archguard_preflight: target 'app' has its preflight already; leave one call out")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app" -UMORE -DWIN32=ON)
errs("archguard_preflight: what a program registers is only seen in ELF files; leave the call out for Linux")
configure(FAILS ARGS -DLANGUAGES=CUDA -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=TARGETS;app" -UWIN32)
errs("archguard_preflight: its source is C and C++, and neither is enabled; write project(... LANGUAGES CXX CUDA)")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;app;TABEL")
errs("archguard_preflight: unknown argument 'TABEL'; did you mean TABLE?")
configure(FAILS ARGS ${plain} "-DARGUMENTS=TARGETS;below;TABLE" -DBELOW=ON)
errs("archguard_preflight: TABLE is a part of the link of 'below', and no other folder may add to that; call archguard_preflight in <source>/below")
