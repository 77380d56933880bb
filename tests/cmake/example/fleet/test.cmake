needs_nvcc(13.0)
file(COPY "${REPOSITORY}/examples/fleet/" DESTINATION "${SOURCE}")

configure()
tells("CMAKE_CUDA_ARCHITECTURES=75-real;80-real;86-real;89-real;90-real;90-virtual"
  "for the devices of fleet.csv, with <nvcc>")
warns("archguard_select_architectures: left out, as nothing built here will run there: NVIDIA GeForce MX330 (6.1, fleet.csv:9): \
CUDA ${NVCC_VERSION} makes nothing that runs on 6.1; the last toolkit that does is 12.9 \
the toolkits that support the whole fleet: 11.8 to 12.9 with SASS for each device; 8.0 to 11.7 with PTX for some")
build()
says("<build>/libhistogram.so: 5 of 6 covered; 1 excluded at configure: 6.1, last toolkit 12.9")
says("<build>/count_letters: 5 of 6 covered; 1 excluded at configure: 6.1, last toolkit 12.9")
