# Install rules: two programs and the CMake package, each a component. The prefix can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ArchGuard")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/Modules/ArchGuardConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/ArchGuardConfig.cmake"
  INSTALL_DESTINATION "${package_folder}"
  PATH_VARS CMAKE_INSTALL_BINDIR
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Programs and scripts only, so a project for any pointer size may use them. Before 1.0 a minor version may break.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/ArchGuardConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS arch_probe archguard RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ArchGuard_Runtime)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/packaging/copyright"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ArchGuard_Runtime)
install(FILES "${PROJECT_BINARY_DIR}/cmake/ArchGuardConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/ArchGuardConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Modules/ArchGuard.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Modules/ArchGuardInject.cmake"
  DESTINATION "${package_folder}" COMPONENT ArchGuard_Development)
install(FILES "${PROJECT_SOURCE_DIR}/preflight/archguard_preflight.h" "${PROJECT_SOURCE_DIR}/preflight/archguard_preflight.c"
  DESTINATION "${package_folder}/preflight" COMPONENT ArchGuard_Development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/Modules/archguard" DESTINATION "${package_folder}"
  COMPONENT ArchGuard_Development FILES_MATCHING PATTERN "*.cmake")

# Shell completion. In the wheel it goes where the environment's own lies, beside the programs on PATH.
file(READ "${PROJECT_SOURCE_DIR}/packaging/completions/options.awk" options_awk)
set(shared "${CMAKE_INSTALL_DATADIR}")
if(SKBUILD)
  set(shared "${SKBUILD_DATA_DIR}/share")
endif()
foreach(shell IN ITEMS bash zsh fish)
  configure_file("${PROJECT_SOURCE_DIR}/packaging/completions/archguard.${shell}.in"
    "${PROJECT_BINARY_DIR}/completions/archguard.${shell}" @ONLY)
endforeach()
foreach(program IN ITEMS archguard arch_probe)
  install(FILES "${PROJECT_BINARY_DIR}/completions/archguard.bash" RENAME ${program}
    DESTINATION "${shared}/bash-completion/completions" COMPONENT ArchGuard_Runtime)
  install(FILES "${PROJECT_BINARY_DIR}/completions/archguard.fish" RENAME ${program}.fish
    DESTINATION "${shared}/fish/vendor_completions.d" COMPONENT ArchGuard_Runtime)
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/completions/archguard.zsh" RENAME _archguard
  DESTINATION "${shared}/zsh/site-functions" COMPONENT ArchGuard_Runtime)

# Man pages of the programs and of each command; packaging/man/write makes them.
file(GLOB manuals CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/packaging/man/*.1")
install(FILES ${manuals} DESTINATION "${shared}/man/man1" COMPONENT ArchGuard_Runtime)
