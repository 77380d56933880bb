# Without any device: do the objects hold what CUDA_ARCHITECTURES asks for?
needs_nvcc(13.0)

configure(ARGS "-DLIST=80-real;90" -DLAUNCHER= -DARGUMENTS=)
warns("archguard_verify: no devices are known in CMakeLists.txt, so nothing is proved of them, only that what was built holds \
what CUDA_ARCHITECTURES asks for; give FLEET <file>, or call archguard_select_architectures before")
build()
says("archguard: target 'app' holds what its CUDA_ARCHITECTURES asks for")

configure(ARGS "-DLIST=80-real;90" "-DLAUNCHER=${SOURCE}/lose_90")
build(FAILS ARGS --clean-first)  # Makefiles do not look at the launcher
says("lacks SASS of sm_90, PTX of compute_90, which CUDA_ARCHITECTURES of target 'app' asks for found: sm_80 cubin")
says("archguard: error: target 'app' lacks code that its CUDA_ARCHITECTURES asks for")

# The packager lets it pass, with a warning.
configure(ARGS -DARCHGUARD_VERIFY=warn)
build()
says("archguard: warning: target 'app' lacks code that its CUDA_ARCHITECTURES asks for")

# nvcc says what all-major is; OFF asks nothing.
configure(ARGS -DARCHGUARD_VERIFY=error -DLIST=OFF)
build()
says("archguard: note: target 'app' is not checked: no devices are known, and its CUDA_ARCHITECTURES asks for nothing")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.23)
  configure(ARGS -DLIST=all-major -DLAUNCHER=)
  build()
  says("archguard: target 'app' holds what its CUDA_ARCHITECTURES asks for")
endif()

# The report of the build names what objects lack, too, though the device is covered.
configure(ARGS "-DLIST=80-real;90" "-DLAUNCHER=${SOURCE}/lose_90" "-DARGUMENTS=FLEET;a100.csv")
build(FAILS ARGS --clean-first)
build(ARGS --target archguard_report)
says("html: not covered: ")
file(GLOB report "${BUILD}/archguard/report*.xml")
file(READ "${report}" text)
string(FIND "${text}" "lacks SASS of sm_90" at)
if(at EQUAL -1)
  message(FATAL_ERROR "not in ${report}:\n${text}")
endif()
