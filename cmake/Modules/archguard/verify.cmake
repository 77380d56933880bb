#[=======================================================================[.rst:
archguard_verify
----------------

Checks on every build that what was built covers every device, and stops the build if it does not::

  archguard_verify(
    [TARGETS <target>... | ALL]      ALL (default): every target of this folder and its subfolders that the default build makes
    [FLEET <file>...]                devices from CSV files; default: those of archguard_select_architectures
    [SCOPE fatbin|container|library] library: for targets that choose among images at run time (fatbin, also called container)
    [REQUIRE sass|any]               sass: PTX does not count (any)
    [REQUIRE_PTX]                    each fat binary also holds plain PTX, for future GPUs
    [HOLLOW error|warn|off]          kernels that do nothing on one device but work on another (warn)
    [DRIVER error|warn]              a driver of the fleet that is too old for the CUDA runtime, error 35 (error)
    [PARTLY error|warn|off]          scope library: devices that get far less of a library than others (error)
    [EMBEDDED error|warn|off]        a target holds images as data, and none fits a device (error)
    [NEEDED error|warn|off]          the libraries of others that a linked target needs (error)
    [ANY_OF <glob>...]               of the files that match a glob, a device needs only one
    [WAIVERS <file>]                 CSV kernel,compute_cap,reason: kernels that may be absent
    [WARN_ONLY]                      report, but let the build go on
    [POST_BUILD]                     a failed check fails the target's own link step
    [TEST])                          add a CTest test per target, label archguard; needs enable_testing()

Each target is checked for two things:

- The linked file covers every device. Without ``FLEET`` these are the devices of the last ``archguard_select_architectures`` in
  scope, except those it left out. Devices that were only found in this machine are errors if ArchGuard chose the list, and warnings
  if the user did. If devices were chosen for the folder of a CUDA target and no check of that target knows any, the configure
  step stops.
- The target's objects hold what its ``CUDA_ARCHITECTURES`` asks for; ``OFF`` asks for nothing. Objects of LLVM bitcode or of
  MSVC's ``/GL`` (``INTERPROCEDURAL_OPTIMIZATION``) are passed over with a note, unless one comes from a CUDA source and nothing was
  linked from it that could be judged.

A program runs on a device only if its libraries do. So the first check also covers the shared libraries that the linked file needs
(``CUDA::cublas`` and other imported ones, those of other targets, and what these need in turn), found as
``archguard verify --needed`` finds them and judged with scope library. The toolkit's own libraries that the loader would not find here,
for instance because ``LD_LIBRARY_PATH`` is set later, are taken from the toolkit's folders, and those of this build from where they are
built, if the program has no RPATH (``CMAKE_SKIP_RPATH``):

- A library with far fewer kernels for one device than for others was not built for it. In the clear cases this is an error;
  ``PARTLY warn`` lets the build go on, ``PARTLY off`` skips the question.
- A library that is not found makes the answer unknown, which is an error; ``NEEDED warn`` lets the build go on, ``NEEDED off`` does not
  look for libraries.
- Libraries that a program opens itself (``dlopen``) are not seen. Only ELF files are followed.
- A verdict on a library is kept in the build tree until the library, the devices or the settings change.
- Static libraries are part of the linked file: for one with device code of others, such as ``CUDA::cublas_static``, use
  ``SCOPE library``.

A device whose stated driver is too old for the program's CUDA runtime is not covered, whatever the images are: from CUDA 11 on, a
driver of an older major version. If drivers are updated before the program is shipped, ``DRIVER warn`` turns this into a warning.

A target may hold cubins or PTX as data (``CUDA_PTX_COMPILATION``, bin2c) and hand one of them to the driver. They are judged together:
a device that none of them runs on is an error. ``EMBEDDED warn`` lets the build go on, for instance if a static library of others
brings them; ``ARCHGUARD_EMBEDDED`` sets it for a whole build.

If a project builds alternatives, such as one plugin per architecture of which the program opens one, ``ANY_OF "plugin_sm*.so"``
requires that one of the matching files covers each device, not all of them; with several globs, one file per glob. A glob is
compared with the end of a file's path, as ``archguard verify --any-of`` does. The files of all targets of this call are then judged
together, by the target ``archguard_verify_any_of``. The other checks stay with each target: what its ``CUDA_ARCHITECTURES`` asks for,
and its libraries for every device; ``POST_BUILD`` runs only these.

What the default build makes is decided at the end of the configure step: the targets of CMake's ``all``, where a target's own
``EXCLUDE_FROM_ALL`` overrides that of its folder, and the targets that one of them links or names in ``add_dependencies``. So ``ALL``
includes a library of ``FetchContent`` in a folder with ``EXCLUDE_FROM_ALL`` as soon as a program links it. A target that only a custom
command's rule depends on is not found: name it in ``TARGETS``. If the default build does not make a target in ``TARGETS``, only the
target ``archguard_verify`` checks it.

The check runs again when the target, a needed library, a fleet, the waivers or the settings change, in the default build and by
the target ``archguard_verify``. It compares more than dates: it also notices a library that a package manager replaced by an older
one, and one that now comes first in the loader's search. A short step in every build, ``archguard_changes``, looks for that. The
targets of a folder that ``ALL`` finds are checked by one step once all are built; it says nothing about targets that did not change.
A named target without device code, in itself and its libraries, is an error; for one that ``ALL`` found and that has CUDA sources it
is a note.

A target in ``TARGETS`` that belongs to the calling folder is also checked in its link step, so ``cmake --build <folder> --target
app`` and an IDE report it, too. The step is silent if all is well. If the check fails, it says why and succeeds, so that the file stays
and is not linked again each time; the check of the default build then fails. With ``POST_BUILD``, or if ``CI`` is set in the environment,
the step itself fails: make then removes the file, and ninja links it again. CMake has no such step for an object library or a
target of another folder: these are checked only by the default build and by ``archguard_verify``.

The target ``archguard_report`` looks at everything built so far, whether it passed its checks or not, and writes
``archguard/report.html`` in the build folder, a page with each file and device, and ``archguard/report.xml``, the same as JUnit; with
several configurations ``report-<config>``. It builds nothing else and always succeeds::

  cmake --build build; cmake --build build --target archguard_report

A target that is not built is an error in the report. Checks with other devices or policies, which do not fit into one table, get
pages of their own: ``report-2.html`` and so on. The tests that ``TEST`` adds attach the page of their target
(``DartMeasurementFile``), which CDash shows beside the test.

For packagers, from the cache or the environment: ``ARCHGUARD_VERIFY=error|warn|off``, ``ARCHGUARD_DRIVER=error|warn``,
``ARCHGUARD_PARTLY=error|warn|off``, ``ARCHGUARD_EMBEDDED=error|warn|off``, ``ARCHGUARD_FLEET``, ``ARCHGUARD_EXECUTABLE`` (the archguard to
run), ``ARCHGUARD_VERDICTS`` (a folder of kept verdicts).
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
