# Makes GIT a git repository with REPOSITORY's files as they are, committed or not, and forgets what an earlier run took.
file(REMOVE_RECURSE "${SECONDS}" "${GIT}")
find_program(PROGRAM git)
if(NOT PROGRAM)
  message("SKIPPED: no git on PATH")
  return()
endif()
foreach(part IN ITEMS CMakeLists.txt cmake src tools)
  file(COPY "${REPOSITORY}/${part}" DESTINATION "${GIT}")
endforeach()
foreach(arguments IN ITEMS "init;--quiet" "add;--all" "commit;--quiet;--message=ArchGuard" "branch;--move;--force;main")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env GIT_CONFIG_GLOBAL=/dev/null "${PROGRAM}" -c user.name=ArchGuard
    -c user.email=archguard@example.invalid ${arguments} WORKING_DIRECTORY "${GIT}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
