# The fix names the list of each target whose device code is in the file: a kernel of a library is compiled for the library's.
needs_nvcc(13.0)
configure(ARGS -DLIST=80-real)
warns()
build(FAILS)
says("fix: add 90-real to CUDA_ARCHITECTURES of target 'app' and of the CUDA libraries that it links (klib, olib, parts)")

# Followed, the error is gone.
configure(ARGS "-DLIST=80-real\\;90-real")
build()
says("<build>/app: 1 of 1 covered")
