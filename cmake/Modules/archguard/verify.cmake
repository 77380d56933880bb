#[=======================================================================[.rst:
archguard_verify
----------------

Checks on every build that what was built covers every device, and stops the build where it does not::

  archguard_verify(
    [TARGETS <target>... | ALL]      ALL (default): every target of this folder and below that the default build makes
    [FLEET <file>...]                devices from CSV files; without it, those of archguard_select_architectures
    [SCOPE fatbin|container|library] library: for targets that choose among images at run time (fatbin, also called container)
    [REQUIRE sass|any]               sass: PTX is no answer (any)
    [REQUIRE_PTX]                    each fat binary also holds plain PTX, for future GPUs
    [HOLLOW error|warn|off]          kernels that do nothing on one device and something on another (warn)
    [DRIVER error|warn]              a driver of the fleet that is too old for the CUDA runtime, error 35 (error)
    [PARTLY error|warn|off]          scope library: devices that get far less of a library than others (error)
    [EMBEDDED error|warn|off]        a device that none of the images fits that a target holds as data (error)
    [NEEDED error|warn|off]          libraries of others that a linked target needs, scope library (error)
    [ANY_OF <glob>...]               of the targets' files that match a glob, a device needs one
    [WAIVERS <file>]                 CSV kernel,compute_cap,reason: kernels that may be absent
    [WARN_ONLY]                      report, and let the build go on
    [POST_BUILD]                     a failed check fails the target's own link step
    [TEST])                          add a CTest test per target, label archguard; needs enable_testing()

Two questions are asked of each target. Does the linked file cover every device? Without ``FLEET`` these are the devices
of the last ``archguard_select_architectures`` in scope, less those it left out; devices merely found in this machine are
an error where ArchGuard chose the list and a warning where the user did. Where devices were chosen for the folder of a target in
CUDA, and no check of it knows any, the configure step stops. And do the target's objects hold what its
``CUDA_ARCHITECTURES`` asks for? ``OFF`` asks nothing. An object of LLVM bitcode or of MSVC's ``/GL`` (``INTERPROCEDURAL_OPTIMIZATION``) is passed over, with a note, unless a CUDA
source is compiled to it and nothing was linked of it that could be judged.

A program runs on a device only where its libraries do. So the shared libraries that the linked file needs (``CUDA::cublas``
and other imported ones, those of other targets, and what these need in turn) are asked the first question as well, as
``archguard verify --needed`` finds them, with scope library; the toolkit's own that the loader would not find here, as
where ``LD_LIBRARY_PATH`` is set later, are taken from its folders, and those of this build where they are built, if the program has no
RPATH (``CMAKE_SKIP_RPATH``). One that has far fewer kernels for a device than for others
was not made for it, and is an error in the clear cases; ``PARTLY warn`` lets the build go on, ``PARTLY off`` does not ask. One that is not found makes the answer unknown, which is an
error; ``NEEDED warn`` lets the build go on, ``NEEDED off`` does not look. What a program opens by itself is not seen. This
is for ELF files alone. A verdict on a library is kept in the build tree, as long as library, devices and settings are the same. Static libraries are part of the linked file: for one with device code of others, such as
``CUDA::cublas_static``, use ``SCOPE library``.

A device whose driver is stated and too old for the program's CUDA runtime is not covered, whatever the images are: from
CUDA 11 on a driver of an older major version. Where drivers are updated before the program is shipped, ``DRIVER warn`` only
says so.

A target may hold cubins or PTX as data (``CUDA_PTX_COMPILATION``, bin2c) and hand one of them to the driver. They are judged
together: a device that none of them runs on is an error. ``EMBEDDED warn`` lets the build go on, as for those that a static library of others
brings along; ``ARCHGUARD_EMBEDDED`` sets it for a whole build.

Where a project builds alternatives, such as a plugin for each architecture of which the program opens one, ``ANY_OF "plugin_sm*.so"`` asks
that each device is covered by one of the files that match, not by all; with more than one glob, that of each. A glob is
compared with the end of a file's path, as ``archguard verify --any-of`` does. The files of all targets of this call are then judged
together, under the target ``archguard_verify_any_of``; the other questions are asked of each target as ever: what its
``CUDA_ARCHITECTURES`` asks for, and its libraries for every device. ``POST_BUILD`` asks only these.

What the default build makes is decided at the end of the configure step: the targets of CMake's ``all``, where a target's own
``EXCLUDE_FROM_ALL`` outdoes that of its folder, and those that one of them links or names in ``add_dependencies``. So a library of
``FetchContent`` in a folder with ``EXCLUDE_FROM_ALL`` is a target of ``ALL`` as soon as a program links it. What only the rule of a custom
command asks for is not found: name it in ``TARGETS``. A target in ``TARGETS`` that the default build does not make is checked by
the target ``archguard_verify`` alone.

The check runs again when the target, a needed library, a fleet, the waivers or the settings change, in the default build
and under the target ``archguard_verify``. Not only dates are compared: a library that a package manager replaced by an older one
is checked again, as is one that came to stand before it where the loader looks, for which one short step, ``archguard_changes``, is a part of every build.
Those targets of a folder that ``ALL`` finds are checked by one step, when all of them are built; of those that did not change since, it says nothing.
A named target without device code, in itself and its libraries, is an error; of those found by ``ALL`` a note tells where they have CUDA sources.

A target in ``TARGETS`` that belongs to the calling folder is also checked in its link step, so that ``cmake --build <folder> --target
app`` and an IDE tell as well. The step says nothing where all is well. Where the check fails it says why and ends well, so that the file stays
and is not linked anew each time; the default build then fails by the check itself. With ``POST_BUILD``, and where the
environment has ``CI`` set, the step fails: make removes the file then, and ninja links it again. CMake has no such step for
an object library or a target of another folder: these are checked by the default build and by ``archguard_verify`` alone.

The target ``archguard_report`` looks at what is built by then, whether it passed its checks or not, and writes ``archguard/report.html`` of the
build folder, a page with each file and device, and ``archguard/report.xml``, the same as JUnit; with several configurations ``report-<config>``. It builds
nothing else, and ends well whatever it finds::

  cmake --build build; cmake --build build --target archguard_report

A target that is not built is an error in it. Checks of other devices or other policies than those before, where both cannot stand in one table, have
pages of their own: ``report-2.html`` and so on. The tests that ``TEST`` adds attach the page of their target (``DartMeasurementFile``), which CDash shows
beside the test.

For packagers, from the cache or the environment: ``ARCHGUARD_VERIFY=error|warn|off``, ``ARCHGUARD_DRIVER=error|warn``,
``ARCHGUARD_PARTLY=error|warn|off``, ``ARCHGUARD_EMBEDDED=error|warn|off``, ``ARCHGUARD_FLEET``, ``ARCHGUARD_EXECUTABLE`` (the archguard to run), ``ARCHGUARD_VERDICTS`` (a folder of kept verdicts).
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/finish.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/verify_target.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/verify_tree.cmake")

function(archguard_verify)
  set(command "archguard_verify")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  _archguard_check_paths(${command})
  cmake_parse_arguments(PARSE_ARGV 0 arg "ALL;REQUIRE_PTX;WARN_ONLY;POST_BUILD;TEST" ""
    "TARGETS;FLEET;ANY_OF;SCOPE;REQUIRE;HOLLOW;EMBEDDED;DRIVER;PARTLY;NEEDED;WAIVERS")
  _archguard_check_arguments(${command} arg OPTIONS ALL REQUIRE_PTX WARN_ONLY POST_BUILD TEST
    ONE SCOPE REQUIRE HOLLOW EMBEDDED DRIVER PARTLY NEEDED WAIVERS MANY TARGETS FLEET ANY_OF)
  _archguard_check_choice(${command} arg SCOPE fatbin container library)
  _archguard_check_choice(${command} arg REQUIRE sass any)
  _archguard_check_choice(${command} arg HOLLOW error warn off)
  _archguard_check_choice(${command} arg EMBEDDED error warn off)
  _archguard_check_choice(${command} arg DRIVER error warn)
  _archguard_check_choice(${command} arg PARTLY error warn off)
  _archguard_check_choice(${command} arg NEEDED error warn off)
  if(arg_ALL AND DEFINED arg_TARGETS)
    message(FATAL_ERROR "${command}: TARGETS and ALL exclude each other; give one of them")
  endif()

  set(severity "error")
  if(arg_WARN_ONLY)
    set(severity "warn")
  endif()
  _archguard_policy_value(severity ${command} "${severity}" ARCHGUARD_VERIFY error warn off)
  foreach(target IN LISTS arg_TARGETS)
    _archguard_check_target(${command} "${target}")
  endforeach()
  if(severity STREQUAL "off")
    message(STATUS "ArchGuard: nothing will be verified, as ARCHGUARD_VERIFY is off")
    return()
  endif()

  _archguard_given_arguments(given arg OPTIONS REQUIRE_PTX POST_BUILD TEST
    VALUES FLEET ANY_OF SCOPE REQUIRE HOLLOW EMBEDDED DRIVER PARTLY NEEDED WAIVERS)
  _archguard_new_check(number ${command} ${severity} EMBEDDED_DEFAULT error ${given})
  _archguard_tell_of_no_devices(${number})
  _archguard_will_finish()
  if(NOT DEFINED arg_TARGETS)
    _archguard_defer_tree(${number} 0)  # targets come into being until the folder ends; its subfolders are done by then
    return()
  endif()
  set(targets "")
  foreach(target IN LISTS arg_TARGETS)
    get_target_property(aliased "${target}" ALIASED_TARGET)
    if(aliased)
      set(target "${aliased}")
    endif()
    list(APPEND targets "${target}")
  endforeach()
  _archguard_verify_named_targets("${targets}" ${number})
endfunction()
