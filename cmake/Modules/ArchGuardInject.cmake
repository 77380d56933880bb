#[=======================================================================[.rst:
ArchGuardInject
---------------

Adds ArchGuard to a project without editing it::

  cmake -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<prefix>/lib/cmake/ArchGuard/ArchGuardInject.cmake -DARCHGUARD_FLEET=fleet.csv ...

The first ``project()`` of the build includes it (CMake 3.24 and newer). It chooses the architectures like
``archguard_select_architectures()``, before the project enables CUDA, and checks every target like ``archguard_verify()``.
A project that sets ``CMAKE_CUDA_ARCHITECTURES`` itself, or per target, keeps its choice: each such list is judged at the end of the
configure step, and what is built is checked all the same.

It takes no arguments. Control it with ``ARCHGUARD_FLEET``, ``ARCHGUARD_BASELINE``, ``ARCHGUARD_DETECT``, ``ARCHGUARD_VERIFY``,
``ARCHGUARD_DRIVER`` and ``ARCHGUARD_EMBEDDED``, from the cache or the environment.
#]=======================================================================]
include_guard(GLOBAL)

find_package(ArchGuard REQUIRED CONFIG NO_DEFAULT_PATH PATHS "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/detail/own_lists.cmake")
archguard_select_architectures()
archguard_verify()
if(NOT "${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")  # empty: CUDAARCHS or raw flags chose
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _archguard_judge_own_lists [==[${CMAKE_CUDA_ARCHITECTURES}]==])")
endif()
