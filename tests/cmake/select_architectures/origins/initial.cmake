set(CMAKE_CUDA_ARCHITECTURES 80-real CACHE STRING "What our cluster has")
