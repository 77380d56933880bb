# A switch of the environment holds when the build runs CMake again, in another environment.
needs_nvcc(13.0)
configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=90-real ENV ARCHGUARD_FLEET=fleet.csv)
build(FAILS)
says("archguard: error: target 'app' does not cover every device")

run(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
file(APPEND "${SOURCE}/CMakeLists.txt" "# more\n")
build(FAILS)
says("-- ArchGuard: ARCHGUARD_FLEET=fleet.csv, as the environment said before; -DARCHGUARD_FLEET=<value> or an empty variable changes \
that")
says_not("said before; -DARCHGUARD_FLEET=<value> or an empty variable changes that -- ArchGuard: ARCHGUARD_FLEET")  # once
says("archguard: error: target 'app' does not cover every device")

# Another value, none, and one that was kept before the cache said something else.
configure(ENV ARCHGUARD_FLEET=h100.csv)
says_not("said before")
configure()
says("ARCHGUARD_FLEET=h100.csv, as the environment said before")
build()
says("app: 1 of 1 covered")
configure(ARGS -DARCHGUARD_FLEET=fleet.csv)
says_not("said before")
build(FAILS)
configure(ARGS -UARCHGUARD_FLEET)
says_not("ARCHGUARD_FLEET")
configure(ENV ARCHGUARD_FLEET=fleet.csv)
configure(ENV ARCHGUARD_FLEET=)
configure()
says_not("ARCHGUARD_FLEET")
