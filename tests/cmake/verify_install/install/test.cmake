# What `cmake --install` installs is judged at its end: every binary, also below other folders.
needs_nvcc(13.0)

configure(ARGS -DARGUMENTS= -DSELECT=ON "-DLIST=80-real;90-real")
build()
run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/whole")
says("-- ArchGuard: verifying what was installed ${WORK}/whole/bin/app: 2 of 2 covered ${WORK}/whole/lib/libkernels.so.1: 2 of 2 covered")

configure(ARGS -DSELECT=ON "-DLIST=80-real")
build()
run(FAILS COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/lacking")
says("kernel 'scale(float*)' cannot run on NVIDIA H100 (9.0, fleet.csv:3)")
says("archguard: error: what was installed does not cover every device")
errs("archguard_verify_install: what was installed does not pass its check; the lines above tell why")
run(FAILS ENV "DESTDIR=${WORK}/stage" COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix /opt/case)
says("${WORK}/stage/opt/case/bin/app: 1 of 2 covered")

# A relative $DESTDIR counts from where the install step runs, whatever lies below the source folder.
file(WRITE "${SOURCE}/stage/opt/case/bin/app" "old")
run(FAILS ENV "DESTDIR=stage" COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix /opt/case)
says("${WORK}/stage/opt/case/bin/app: 1 of 2 covered")

run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/notes" --component notes)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
  says("archguard: note: component 'notes' installs no device code")
endif()

configure(ARGS -DSELECT=ON "-DLIST=80-real" -DARCHGUARD_VERIFY=warn)
build()
run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/lacking")
says("archguard: warning: what was installed does not cover every device")

configure(ARGS -UARCHGUARD_VERIFY -DSELECT=OFF "-DARGUMENTS=FLEET;fleet.csv")
configure(FAILS ARGS -DSELECT=OFF "-DARGUMENTS=")
errs("archguard_verify_install: no devices are known to verify for; give FLEET <file>, or call archguard_select_architectures \
with one")
configure(FAILS ARGS "-DARGUMENTS=TARGETS;app")
errs("archguard_verify_install: unknown argument 'TARGETS'; it knows FLEET ANY_OF")

# Without a GPU and a fleet there is nothing to verify for.
configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -DSELECT=BASELINE -DLIST=80-real "-DARGUMENTS=")
says("-- ArchGuard: what is installed will not be verified: no devices are known")
configure(FAILS ARGS -DSELECT=ON -DPARALLEL=ON)
errs("archguard_verify_install: with the property INSTALL_PARALLEL each folder is installed by a process of its own, and the check \
would see the files of one folder alone; leave the property off, or check by hand: archguard verify <prefix> --fleet <file>")
