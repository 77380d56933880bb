needs_nvcc(13.0)
# An archguard of this version on PATH is taken.
configure(ENV "PATH=${PREFIX}/bin:$ENV{PATH}" ARGS "-DFETCHCONTENT_SOURCE_DIR_ARCHGUARD=${REPOSITORY}")
tells("compiling arch_probe" "CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
build()
says("ArchGuard: verifying plain")
says_not("arch_probe")
