function(refuses arguments text)
  configure(FAILS ARGS "-DARGUMENTS=${arguments}")
  errs("archguard_select_architectures: ${text}")
endfunction()

refuses([[FLET x.csv]]
  "unknown argument 'FLET'; it knows FLEET BASELINE PTX SASS SUFFIX ON_NO_DEVICE ON_DETECT_FAILURE ON_UNSUPPORTED")
refuses([[fleet x.csv]] "unknown argument 'fleet'; did you mean FLEET?")
refuses([[FLEETS x.csv]] "unknown argument 'FLEETS'; did you mean FLEET?")
refuses([[FLEET]] "FLEET needs a value; give one or leave the keyword out")
refuses([[PTX ""]] "PTX got an empty value; give one or leave the keyword out")
refuses([[SASS exact minimal]] "SASS takes one value, got 2: exact minimal")
refuses([[SASS most]] "SASS 'most' is not one of exact, minimal")
refuses([[SUFFIX b]] "SUFFIX 'b' is not one of none, a, f")
refuses([[ON_NO_DEVICE stop]] "ON_NO_DEVICE 'stop' is not one of error, baseline")
refuses([[FLEET missing.csv]] "FLEET file 'missing.csv' does not exist (looked for <source>/missing.csv); \
write one with nvidia-smi --query-gpu=name,compute_cap,driver_version,uuid --format=csv > missing.csv")
