#[=======================================================================[.rst:
ArchGuard
---------

Commands that choose the CUDA architectures of a project for the devices it shall run on, and prove on what was built
that every one of these devices is covered.

Including this file defines the commands, and at the end of the configure step the switches below that are not set get empty
entries in the cache. It does nothing else:

``archguard_select_architectures``
  sets ``CMAKE_CUDA_ARCHITECTURES``, unless the user chose
``archguard_verify``
  checks what was built, on every build
``archguard_compile_check``
  stops the compiler where nothing that it compiles for can reach a device
``archguard_verify_install``
  the same check over what ``cmake --install`` installed
``archguard_detect``
  the GPUs of this machine, as a file and as a list
``archguard_preflight``
  a sentence instead of error 209, said by the program itself on the machine where it happens

They ask two programs, ``ArchGuard::arch_probe`` and ``ArchGuard::archguard``, and hold no table of architectures of
their own. ``find_package(ArchGuard)``, ``add_subdirectory`` and ``FetchContent`` bring both.

Switches for packagers, from the cache (``-D``, ``ccmake``, cmake-gui) or the environment. The cache wins, and both win over the
arguments of the commands. An empty one is not set. What the environment said is kept in the build tree, as CMake keeps
``CUDAARCHS``: a build that runs CMake again may have another environment. Another value changes it, and an empty variable forgets it:

``ARCHGUARD_DETECT``
  ``OFF``: the GPUs of the building machine are not looked for, and never change the product
``ARCHGUARD_FLEET``
  fleet files to build and verify for; a relative path counts from the top of the source tree
``ARCHGUARD_BASELINE``
  the architectures to build for where no device is known
``ARCHGUARD_ON_UNSUPPORTED``
  what it means that this CUDA toolkit cannot support a device: ``error`` or ``warn``
``ARCHGUARD_VERIFY``
  what a failed check does: ``error``, ``warn``, or ``off`` for no check at all
``ARCHGUARD_DRIVER``
  what a driver does that is too old for a program's CUDA runtime: ``error`` or ``warn``
``ARCHGUARD_PARTLY``
  what a library that was not made for a device does to a check: ``error``, ``warn`` or ``off``
``ARCHGUARD_EMBEDDED``
  what it means that none of the images which a file holds as data runs on a device: ``error``, ``warn`` or ``off``
``ARCHGUARD_EXECUTABLE``
  the ``archguard`` to run
``ARCHGUARD_VERDICTS``
  a folder where verdicts on libraries are kept for all build trees of a user, beside that of the build tree; nobody else may
  write to it

Options of a tree that ArchGuard is built in, by itself or as a part of another project, whose users are not asked: it sets the
variable, or they do by ``-D``:

``ARCHGUARD_INSTALL``
  install rules of ArchGuard itself; on at the top level only
``ARCHGUARD_BUILD_TESTS``
  its tests; on at the top level only
``ARCHGUARD_BUILD_DOCS``
  its pages as HTML and man pages, by Sphinx (off)
``ARCHGUARD_BUILD_BENCH``
  what its benchmarks compare with (off)
``ARCHGUARD_STATIC``
  ``archguard`` is linked with static libraries where there are some (on)
``ARCHGUARD_WERROR``
  the compiler's warnings are errors (off)

As a part of another project ``archguard`` is built only where ``PATH`` has none of this version. It is compiled as one source, with
flags of its own: of the project's it gets those that choose the machine and the standard library. No other setting of the
project reaches it, or ``arch_probe``: no warnings, sanitizers, language standard, unity build, output folders, or tools that run
beside the compiler. With ``ARCHGUARD_INSTALL`` or ``ARCHGUARD_BUILD_TESTS`` it is made of its libraries one by one, with the
project's build type, and placed, optimised and hardened as the project's own programs are; the other settings do not reach it
either.

While cross-compiling, both programs are those of this machine, on ``PATH`` or beside ``ARCHGUARD_EXECUTABLE``, else
``CMAKE_CROSSCOMPILING_EMULATOR`` runs what was built.

To give a choice of architectures back to ArchGuard, remove the two cache entries that remember it:
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
