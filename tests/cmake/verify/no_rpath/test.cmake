# A program that is built without RPATHs, as packagers do it, does not tell where the libraries of its own tree are.
needs_nvcc(13.0)
foreach(option IN ITEMS CMAKE_SKIP_RPATH CMAKE_SKIP_BUILD_RPATH CMAKE_BUILD_WITH_INSTALL_RPATH)
  configure(ARGS -D${option}=ON)
  build()
  says("<build>/lib${config}/libengine.so, needed by <build>${config}/app, found where the linker did: 1 of 1 covered")
  says("<build>/inner${config}/libinner.so, needed by <build>/lib${config}/libengine.so, found where the linker did: \
1 of 1 covered")
  configure(ARGS -U${option})
  build()
  says("<build>/lib${config}/libengine.so, needed by <build>${config}/app: 1 of 1 covered")
endforeach()
