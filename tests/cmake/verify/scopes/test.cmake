# Whose devices a check takes: those of the folder, wherever they were selected; and what has none.
needs_nvcc(13.0)
set(keep_going "")
if(GENERATOR MATCHES "Ninja")
  set(keep_going -- -k 0)
elseif(GENERATOR MATCHES "Makefiles")
  set(keep_going -- -k)
endif()

configure(ARGS -DSELECT=function)
build(FAILS ARGS ${keep_going})
says("libsh.so: 1 of 2 covered")
says("archguard: error: target 'sh' does not cover every device")
says_not("'sh' lacks code")  # the objects are those of another target, compiled for its list

# Selected in a folder beside this one alone.
configure(FAILS ARGS -DSELECT=sibling)
errs("archguard_verify: no devices are known in CMakeLists.txt, for archguard_select_architectures was called later, or in \
another folder alone; call it before, here or in a folder above, or give archguard_verify FLEET <file>")

# Selected in a folder below, for devices that the folder above has none of.
configure(FAILS ARGS -DSELECT=below)
errs("archguard_verify: archguard_select_architectures chose devices for the folder of lower, and no check of it knows them; call \
archguard_verify in that folder, behind it, or give archguard_verify FLEET <file>")
configure(ARGS -DVERIFY_BELOW=ON)
configure(ARGS -DVERIFY_BELOW=OFF -DARCHGUARD_FLEET=fleet.csv)

# Nobody enabled CUDA: CMake passes over the sources without a word.
configure(FAILS ARGS -UARCHGUARD_FLEET -DSELECT=function -DNEVER_ENABLED=ON)
errs("archguard_verify: you chose architectures, and CUDA was never enabled: CMake passes over the CUDA sources of target 'ob'; \
write enable_language(CUDA) behind archguard_select_architectures(), before the target")
