# PTX that a program holds as data (CUDA_PTX_COMPILATION): an error where no device's image is among it.
needs_nvcc(13.0)

configure(ARGS -DEMBED=90 -DARGUMENTS=)
build(FAILS)
says("kernel 'scale' cannot run on NVIDIA A100 (8.0, fleet.csv:2)")
says("found: compute_90 among the data of the file")
says("fix: embed PTX of compute_80 (nvcc -ptx -arch=compute_80) as well")
says("archguard: error: target 'app' does not cover every device")

configure(ARGS -DEMBED=90 "-DARGUMENTS=EMBEDDED;warn")
build()
says("the image that it holds as data (compute_90) does not run on NVIDIA A100 (8.0, fleet.csv:2)")
says("<build>/app: 2 of 2 covered")

configure(ARGS -DEMBED=90 "-DARGUMENTS=EMBEDDED;error" -DARCHGUARD_EMBEDDED=OFF)
build()
says_not("holds as data")

configure(ARGS -DEMBED=80 -DARGUMENTS= -UARCHGUARD_EMBEDDED)
build()
says("<build>/app: 2 of 2 covered")
says_not("holds as data")
says("<build>/host: 2 of 2 covered")
says_not("what was asked for")
