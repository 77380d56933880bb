#[=======================================================================[.rst:
ArchGuard
---------

Commands that choose the CUDA architectures of a project for the devices it shall run on, and prove on what was built
that every one of these devices is covered.

Including this file defines the commands and does nothing else:

``archguard_select_architectures``  sets ``CMAKE_CUDA_ARCHITECTURES``, unless the user chose
``archguard_verify``                checks what was built, on every build
``archguard_compile_check``         stops the compiler where nothing that it compiles for can reach a device
``archguard_verify_install``        the same check over what ``cmake --install`` installed
``archguard_detect``                the GPUs of this machine, as a file and as a list

They ask two programs, ``ArchGuard::arch_probe`` and ``ArchGuard::archguard``, and hold no table of architectures of
their own. ``find_package(ArchGuard)``, ``add_subdirectory`` and ``FetchContent`` bring both.
#]=======================================================================]
include_guard(GLOBAL)

# A function keeps the policies that were set where it was defined: the project's own cannot change how these work.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...4.0)

include("${CMAKE_CURRENT_LIST_DIR}/archguard/select_architectures.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/verify.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/compile_check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/verify_install.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/detect.cmake")

cmake_policy(POP)
