function(refuses arguments text)
  configure(FAILS ARGS "-DARGUMENTS=${arguments}")
  errs("archguard_verify: ${text}")
endfunction()

refuses([[TARGETS missing]] "there is no target 'missing' (yet); \
call archguard_verify behind the add_executable or add_library that creates it")
refuses([[TARGETS headers]] "target 'headers' is an INTERFACE library, which has no file; name the targets that link it")
refuses([[TARGETS others]] "target 'others' is imported, so this build does not make it; \
check its file by hand: archguard verify <file> --fleet <file>")
refuses([[TARGETS docs]] "target 'docs' is of type UTILITY, which has no device code; name executables and libraries")
refuses([[TARGETS docs ALL]] "TARGETS and ALL exclude each other; give one of them")
refuses([[TARGETS]] "TARGETS needs a value; give one or leave the keyword out")
refuses([[FLEET no.csv]] "FLEET file 'no.csv' does not exist (looked for <source>/no.csv); \
write one with nvidia-smi --query-gpu=name,compute_cap,driver_version,uuid --format=csv > no.csv")
refuses([[WAIVERS no.csv]] "WAIVERS file 'no.csv' does not exist (looked for <source>/no.csv)")
refuses([[HOLLOW maybe]] "HOLLOW 'maybe' is not one of error, warn, off")
refuses([[NEEDED maybe]] "NEEDED 'maybe' is not one of error, warn, off")
refuses([[warn_only]] "unknown argument 'warn_only'; did you mean WARN_ONLY?")
configure(FAILS ARGS -DARGUMENTS=ALL -DARCHGUARD_VERIFY=loud)
errs("archguard_verify: ARCHGUARD_VERIFY is 'loud'; it takes error, warn or off")
configure(FAILS ARGS -DARGUMENTS=ALL -UARCHGUARD_VERIFY -DARCHGUARD_EXECUTABLE=/no/archguard)
errs("archguard_verify: ARCHGUARD_EXECUTABLE is '/no/archguard', which does not exist")
