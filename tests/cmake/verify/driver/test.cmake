# A driver of the fleet that is too old for the program's CUDA runtime, linked in or needed: error 35, unless it is to be
# updated before the program is shipped.
needs_nvcc(13.0)
set(keep_going "")
if(GENERATOR MATCHES "Ninja")
  set(keep_going -- -k 0)
elseif(GENERATOR MATCHES "Makefiles")
  set(keep_going -- -k)
endif()

configure(ARGS "-DARGUMENTS=TARGETS;app;shared;NEEDED;off")
build(FAILS ARGS ${keep_going})
says("archguard: error 35: <build>/app: the CUDA runtime fails on NVIDIA A100 (8.0, fleet.csv:2)")
says("found: the runtime of CUDA 13.0, linked in")
says("archguard: error 35: <build>/shared: the CUDA runtime fails on NVIDIA A100 (8.0, fleet.csv:2)")
says("found: libcudart.so.13 among the libraries that it needs")
says("<build>/app: 1 of 2 covered")
foreach(target IN ITEMS app shared)
  says("archguard: error: target '${target}' does not cover every device")
endforeach()

configure(ARGS "-DARGUMENTS=TARGETS;app;shared;NEEDED;off;DRIVER;warn")
build()
says("archguard: warning: <build>/app: the runtime of CUDA 13.0 fails with error 35 (cudaErrorInsufficientDriver) on the \
driver of NVIDIA A100 (8.0, fleet.csv:2)")
says("<build>/app: 2 of 2 covered")
says("<build>/shared: 2 of 2 covered")

# The packager's word is the last.
configure(ARGS -DARCHGUARD_DRIVER=error)
build(FAILS ARGS ${keep_going})
says("archguard: error 35: <build>/app: ")
configure(ARGS -DARCHGUARD_DRIVER=WARN "-DARGUMENTS=TARGETS;app;NEEDED;off")
build()
says("<build>/app: 2 of 2 covered")
