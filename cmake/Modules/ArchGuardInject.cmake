#[=======================================================================[.rst:
ArchGuardInject
---------------

Brings ArchGuard into a project whose files stay as they are::

  cmake -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<prefix>/lib/cmake/ArchGuard/ArchGuardInject.cmake -DARCHGUARD_FLEET=fleet.csv ...

The first ``project()`` of the build includes it (CMake 3.24 and newer). It chooses the architectures as
``archguard_select_architectures()`` does, before the project enables CUDA, and checks every target as
``archguard_verify()`` does. A project that sets ``CMAKE_CUDA_ARCHITECTURES`` itself, or per target, keeps its choice: at
the end of the configure step each such list is judged, and what is built is checked all the same.

It takes no arguments: ``ARCHGUARD_FLEET``, ``ARCHGUARD_BASELINE``, ``ARCHGUARD_DETECT``, ``ARCHGUARD_VERIFY``, ``ARCHGUARD_DRIVER`` and
``ARCHGUARD_EMBEDDED``, from the cache or the environment, steer it.
#]=======================================================================]
include_guard(GLOBAL)

find_package(ArchGuard REQUIRED CONFIG NO_DEFAULT_PATH PATHS "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/archguard/detail/own_lists.cmake")
archguard_select_architectures()
archguard_verify()
if(NOT "${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")  # empty: CUDAARCHS or raw flags chose
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _archguard_judge_own_lists [==[${CMAKE_CUDA_ARCHITECTURES}]==])")
endif()
