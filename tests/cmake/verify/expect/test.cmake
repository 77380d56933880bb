# Without any device: do the objects hold what CUDA_ARCHITECTURES asks for?
needs_nvcc(13.0)

configure(ARGS "-DLIST=80-real;90" -DLAUNCHER=)
build()
says("ArchGuard: target 'app' holds what its CUDA_ARCHITECTURES asks for")

configure(ARGS "-DLIST=80-real;90" "-DLAUNCHER=${SOURCE}/lose_90")
build(FAILS ARGS --clean-first)  # Makefiles do not look at the launcher
says("lacks SASS of sm_90, PTX of compute_90, which CUDA_ARCHITECTURES of target 'app' asks for found: sm_80 cubin")
errs("archguard_verify: target 'app' lacks code that its CUDA_ARCHITECTURES asks for")

# The packager lets it pass, with a warning.
configure(ARGS -DARCHGUARD_VERIFY=warn)
build()
says("ArchGuard: warning: target 'app' lacks code that its CUDA_ARCHITECTURES asks for")

# nvcc says what all-major is; OFF asks nothing.
configure(ARGS -DARCHGUARD_VERIFY=error -DLIST=OFF)
build()
says("ArchGuard: note: target 'app': nothing to check, as no devices are known and its CUDA_ARCHITECTURES asks for nothing")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.23)
  configure(ARGS -DLIST=all-major -DLAUNCHER=)
  build()
  says("ArchGuard: target 'app' holds what its CUDA_ARCHITECTURES asks for")
endif()
