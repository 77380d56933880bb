#include "options.h"

namespace archguard {

std::string probe_help(bool whole) {
  return std::string(R"(usage: arch_probe [OPTION...]
       arch_probe select [OPTION...]

Shows the NVIDIA GPUs of this machine, or says why there are none.
`arch_probe select` chooses CUDA architectures for them.

options:
  --fleet FILE             show the devices of this fleet file instead (- is
                           standard input); may be repeated, which merges files
  --timeout SECONDS        how long to wait for the driver [15]
  --cache FILE             keep the drivers' answer in this file, and reuse it
                           while nothing changes

output:
  --format table|json|csv  csv is a fleet file, which --fleet reads [table]
  --write-devices FILE     also write the devices to a fleet file
  --color auto|always|never
                           [auto: on a terminal, unless NO_COLOR is set;
                           CLICOLOR_FORCE forces it]
  -V, --version            show the version
  -h, --help               show this help; -h is short
)") + (whole ? R"(
examples:
  arch_probe
  arch_probe --format csv > fleet.csv
  arch_probe --fleet node1.csv --fleet node2.csv

exit status:
  0  there are devices
  2  wrong usage, or a fleet file that cannot be read
  3  there is no device: no driver, the toolkit's stub library, no GPU, or the
     environment hides them all
  4  there is a driver, and it fails, crashes or does not answer
)"
             : "\narch_probe --help also shows examples and exit statuses.\n");
}

std::string select_help(bool whole) {
  return std::string(R"(usage: arch_probe select (--nvcc PATH | --toolkit X.Y) [OPTION...]

Chooses the CUDA architectures that reach every device: of this machine, unless
--fleet or --device names others.

devices:
  --fleet FILE             the devices of a fleet file (- is standard input); a
                           line with a reason in the column excluded is left
                           out; may be repeated
  --device CC[@CUDA]       a device: 8.6, or 8.6@12.4 where its driver offers
                           CUDA 12.4; may be repeated
  --no-detect              without --fleet and --device: do not look for GPUs
  --timeout SECONDS        how long to wait for the driver [15]
  --cache FILE             keep the drivers' answer in this file, and reuse it
                           while nothing changes

compiler:
  --nvcc PATH              what this nvcc can generate (it is run)
  --toolkit X.Y            what nvcc of this release can generate
  --clang PATH             this clang compiles, with that CUDA toolkit
  --target PROCESSOR       aarch64: the baseline holds Tegra architectures too

choice:
  --ptx newest|oldest|none|CC
                           the PTX for devices without SASS [newest]
  --sass exact|minimal     SASS for each architecture, or as few as reach every
                           device [exact]
  --suffix none|a|f        SASS with a (that device only: 90a) or f (its family:
                           100f), where it exists; PTX stays plain [none]
  --on-no-device error|baseline
                           without a device: stop, or warn and take the baseline
                           [baseline]
  --on-detect-failure error|baseline
                           likewise, with a driver that fails [baseline]
  --baseline LIST          the baseline: 80-real;90-virtual [this nvcc's
                           all-major]
  --judge LIST             also judge this list: for each device (in the JSON),
                           and whether the compiler can generate it

output:
  --format cmake|torch|gencode|json
                           the reasons go to standard error [cmake]
  --write-devices FILE     also write the devices to a fleet file
  --write-json FILE        also write the JSON to a file
  --color auto|always|never
                           [auto: on a terminal, unless NO_COLOR is set;
                           CLICOLOR_FORCE forces it]
  -V, --version            show the version
  -h, --help               show this help; -h is short
)") + (whole ? R"(
examples:
  arch_probe select --nvcc nvcc
  arch_probe select --nvcc nvcc --fleet fleet.csv --format gencode
  arch_probe select --toolkit 12.8 --device 7.5 --device 9.0 --format torch

exit status:
  0  a list was chosen
  1  this compiler supports none of the devices
  2  wrong usage, a fleet file that cannot be read, or a compiler that does not
     answer
  3  there is no device, with --on-no-device error
  4  the driver fails, with --on-detect-failure error
)"
             : "\narch_probe select --help also shows examples and exit statuses.\n");
}

}  // namespace archguard
