#[=======================================================================[.rst:
ArchGuard
---------

Commands that choose a project's CUDA architectures for the devices it must run on, and prove that what was built
covers every one of these devices.

Including this file only defines the commands. At the end of the configure step, those of the switches below that are not set
get empty cache entries:

``archguard_select_architectures``
  sets ``CMAKE_CUDA_ARCHITECTURES``, unless you did
``archguard_verify``
  checks what was built, on every build
``archguard_compile_check``
  stops the compiler if none of the architectures it compiles for can run on a device
``archguard_verify_install``
  the same check for what ``cmake --install`` installed
``archguard_detect``
  the GPUs of this machine, as a file and as a list
``archguard_preflight``
  a clear message instead of error 209, from the program itself on the machine where it happens

They run two programs, ``ArchGuard::arch_probe`` and ``ArchGuard::archguard``, which hold all that is known of architectures.
``find_package(ArchGuard)``, ``add_subdirectory`` and ``FetchContent`` bring both.

Switches for packagers, from the cache (``-D``, ``ccmake``, cmake-gui) or the environment. The cache overrides the environment, and
both override the arguments of the commands. An empty switch counts as unset. A value from the environment is kept in the build
tree, as CMake keeps ``CUDAARCHS``, since a later build may run CMake in another environment. A new value replaces it, and an empty
variable clears it:

``ARCHGUARD_DETECT``
  ``OFF``: ArchGuard does not look for GPUs in the build machine, so they never change the product
``ARCHGUARD_FLEET``
  fleet files to build and verify for; relative paths start at the top of the source tree
``ARCHGUARD_BASELINE``
  the architectures to build for if no device is known
``ARCHGUARD_ON_UNSUPPORTED``
  what to do about a device that this CUDA toolkit does not support: ``error`` or ``warn``
``ARCHGUARD_VERIFY``
  what a failed check does: ``error``, ``warn``, or ``off`` to check nothing
``ARCHGUARD_DRIVER``
  what to do about a driver that is too old for a program's CUDA runtime: ``error`` or ``warn``
``ARCHGUARD_PARTLY``
  what to do about a library that was not built for a device: ``error``, ``warn`` or ``off``
``ARCHGUARD_EMBEDDED``
  what to do if a file holds images as data and none of them runs on a device: ``error``, ``warn`` or ``off``
``ARCHGUARD_EXECUTABLE``
  the ``archguard`` to run
``ARCHGUARD_VERDICTS``
  a folder that caches verdicts on libraries for all build trees of a user, besides the cache in each build tree; nobody else
  may have write access to it

Options for building ArchGuard itself, on its own or as part of another project. That project sets the variable, or its users do
with ``-D``:

``ARCHGUARD_INSTALL``
  install rules of ArchGuard itself; on at the top level only
``ARCHGUARD_BUILD_TESTS``
  its tests; on at the top level only
``ARCHGUARD_BUILD_DOCS``
  its documentation as HTML and man pages, with Sphinx (off)
``ARCHGUARD_BUILD_BENCH``
  the programs that its benchmarks compare with (off)
``ARCHGUARD_STATIC``
  link ``archguard`` with static libraries where available (on)
``ARCHGUARD_WERROR``
  treat compiler warnings as errors (off)

As part of another project, ``archguard`` is built only if ``PATH`` has none of this version. It is compiled as one source file with
its own flags; from the project it takes only those that choose the machine and the standard library. No other setting of the
project affects it or ``arch_probe``: no warnings, sanitizers, language standard, unity build, output folders, or compiler
launchers. With ``ARCHGUARD_INSTALL`` or ``ARCHGUARD_BUILD_TESTS`` it is built library by library, with the project's build type,
output folders, optimisation and hardening; the other settings do not affect it then either.

When cross-compiling, both programs must run on the build machine: they are taken from ``PATH`` or from beside
``ARCHGUARD_EXECUTABLE``; otherwise ``CMAKE_CROSSCOMPILING_EMULATOR`` runs the ones that were built.

To let ArchGuard choose the architectures again, remove the two cache entries that hold your choice:
``cmake -U CMAKE_CUDA_ARCHITECTURES -U ARCHGUARD_CHOICE <build folder>``.
#]=======================================================================]
include_guard(GLOBAL)

# Of the project that asks, as find_package and include hand it on: NEW, OLD or nothing. It says whether CMake chooses a
# default list. As a part of a tree ArchGuard's own answers here, which is NEW.
cmake_policy(GET CMP0104 ARCHGUARD_DEFAULT_LIST_POLICY)
set_property(GLOBAL PROPERTY ARCHGUARD_DEFAULT_LIST_POLICY "${ARCHGUARD_DEFAULT_LIST_POLICY}")
unset(ARCHGUARD_DEFAULT_LIST_POLICY)

# A function keeps the policies that were set where it was defined: the project's own cannot change how these work.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...4.0)

include("${CMAKE_CURRENT_LIST_DIR}/archguard/detail/switches.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/select_architectures.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/verify.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/compile_check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/verify_install.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/detect.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/preflight.cmake")

cmake_policy(POP)
