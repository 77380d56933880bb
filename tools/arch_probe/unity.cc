// All of arch_probe as one source, for projects that compile it while they configure: a fraction of the time
// that the files take one by one. Needs C++17 and nothing else:
//   g++ -std=c++17 -Isrc tools/arch_probe/unity.cc -ldl -pthread
//   x86_64-w64-mingw32-g++-posix -std=c++17 -Isrc tools/arch_probe/unity.cc -static
// The build passes the version; this is the one of the release that the file belongs to, which a test
// compares.
#ifndef ARCHGUARD_VERSION
#define ARCHGUARD_VERSION "0.1.0"
#endif

#include "base/bytes.cc"
#include "base/colour.cc"
#include "base/printable.cc"
#include "base/text.cc"
#include "base/text_file.cc"
#include "base/version.cc"
#include "compat/arch.cc"
#include "compat/driver.cc"
#include "compat/driver_functions.cc"
#include "compat/rules.cc"
#include "compat/told_archs.cc"
#include "compat/toolkit.cc"
#include "compat/torch.cc"
#include "device/answers.cc"
#include "device/answer_cache.cc"
#include "device/causes.cc"
#include "device/causes_windows.cc"
#include "device/csv.cc"
#include "device/cuda_driver.cc"
#include "device/device.cc"
#include "device/device_list.cc"
#include "device/elf_section.cc"
#include "device/exclusion.cc"
#include "device/fleet.cc"
#include "device/diagnose.cc"
#include "device/nvml.cc"
#include "device/probe.cc"
#include "device/record.cc"
#include "device/spelling.cc"
#include "json.cc"
#include "main.cc"
#include "options.cc"
#include "probe_command.cc"
#include "select/arch_list.cc"
#include "select/baseline.cc"
#include "select/clang.cc"
#include "select/compiler.cc"
#include "select/explain.cc"
#include "select/format.cc"
#include "select/check_list.cc"
#include "select/nvcc.cc"
#include "select/select.cc"
#include "select/toolkits.cc"
#include "select_command.cc"
#include "table.cc"

// What the operating system gives. Last: Windows' own header defines many a plain word.
#ifdef _WIN32
#include "base/file_windows.cc"
#include "base/process_windows.cc"
#include "base/standard_streams_windows.cc"
#include "base/windows.cc"
#include "base/write_file_windows.cc"
#include "device/platform_windows.cc"
#else
#include "base/file_posix.cc"
#include "base/process_posix.cc"
#include "base/standard_streams_posix.cc"
#include "base/write_file_posix.cc"
#include "device/platform_posix.cc"
#endif
