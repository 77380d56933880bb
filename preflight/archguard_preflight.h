/* A sentence instead of error 209, on the machine where it happens.
 *
 * A program, shared library or extension module that carries this file and archguard_preflight.c can ask
 * whether the device code that it registers runs on the GPUs of the machine that it is on. Nothing happens
 * before it asks, and asking never initialises CUDA. Link with
 *
 *     -Wl,--wrap=__cudaRegisterFatBinary,--wrap=__cudaRegisterFunction,--wrap=__cudaRegisterVar
 *     -Wl,--wrap=__cudaRegisterManagedVar,--wrap=__cudaRegisterTexture,--wrap=__cudaRegisterSurface -ldl
 *
 * (GNU ld, gold, lld, mold), or let `archguard_preflight(TARGETS app ACTION call)` do it in CMake. The guide
 * docs/guide/preflight.md shows what users see. Without such a linker, and for what the driver API loads, run
 * `archguard preflight-table app` behind the link, and keep the app.preflight that it writes beside app.
 *
 * C11 and C++17; no dependency. Its functions are hidden in the file that carries them, so that a library and
 * the program that loads it can both have them, and each answers for its own code.
 */
#ifndef ARCHGUARD_PREFLIGHT_H
#define ARCHGUARD_PREFLIGHT_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define ARCHGUARD_PREFLIGHT_API __attribute__((visibility("hidden")))
#else
#define ARCHGUARD_PREFLIGHT_API
#endif

/* What becomes of the program's code on a device. Of several devices the report has the gravest: the last of
 * these. */
enum archguard_preflight_answer {
  ARCHGUARD_PREFLIGHT_NOTHING, /* holds nothing that is meant for the device: `a` and `f` images for others
                                  alone */
  ARCHGUARD_PREFLIGHT_SASS,    /* the driver loads machine code */
  ARCHGUARD_PREFLIGHT_PTX,     /* the driver compiles PTX, or links again: the first start is slow */
  ARCHGUARD_PREFLIGHT_UNKNOWN, /* cannot be told; the sentence says why */
  ARCHGUARD_PREFLIGHT_FAILS    /* it will not run; the code is the error that CUDA gives */
};

/* What the machine shows to this process. Without ARCHGUARD_PREFLIGHT_DEVICES the report has no device. */
enum archguard_preflight_machine {
  ARCHGUARD_PREFLIGHT_DEVICES,      /* one or more GPUs */
  ARCHGUARD_PREFLIGHT_NO_DRIVER,    /* no NVIDIA driver */
  ARCHGUARD_PREFLIGHT_NO_GPU,       /* a driver, and no GPU */
  ARCHGUARD_PREFLIGHT_HIDDEN,       /* GPUs that CUDA_VISIBLE_DEVICES or a container hides */
  ARCHGUARD_PREFLIGHT_STUB,         /* the toolkit's stub of libcuda was found before the driver's */
  ARCHGUARD_PREFLIGHT_DRIVER_FAILS, /* the driver is there and returns an error */
  ARCHGUARD_PREFLIGHT_NOT_TOLD      /* a driver without NVML (Jetson), which tells nothing before CUDA is
                                       initialised */
};

struct archguard_preflight_device {
  char name[96];                          /* "Tesla T4" */
  char uuid[96];                          /* "GPU-…", "MIG-…"; empty where it is not told */
  int major, minor;                       /* compute capability; 0.0 where it is not told */
  int mig;                                /* 1: an instance of a partitioned GPU */
  enum archguard_preflight_answer answer; /* for this device */
  int code;           /* CUDA's number with _FAILS: 35, 200, 209, 218, 222, 223; 0 where none is documented */
  char sentence[768]; /* why, and what it needs; empty with _SASS and _NOTHING */
};

#define ARCHGUARD_PREFLIGHT_DEVICES_MOST 32

/* About 32 KiB. */
struct archguard_preflight_report {
  enum archguard_preflight_answer answer;   /* the gravest; without a device _FAILS or _UNKNOWN */
  int code;                                 /* CUDA's number with _FAILS, else 0 */
  enum archguard_preflight_machine machine; /* why there are devices, or none */
  char sentence[768];                       /* that of the gravest device; empty where the answer is good */
  int driver_major, driver_minor;           /* the CUDA that the driver offers; 0.0 where it is not told */
  int runtime_major, runtime_minor;         /* the CUDA runtime that the program holds; 0.0 without one */
  unsigned fatbins; /* that the program registered kernels or variables of, or that its table has */
  unsigned device_count;
  unsigned
      more_devices; /* that did not fit: nobody looked at them, and the answer is no better than unknown */
  struct archguard_preflight_device
      devices[ARCHGUARD_PREFLIGHT_DEVICES_MOST]; /* in CUDA's order where that is told */
};

/* Fills the report and returns its answer. May be called at any time, by any thread, also before CUDA is used
 * and in a process that forks later; it prints nothing and ends nothing. A child that was forked while
 * another thread was in this call must not make it: NVML and the loader hold locks then. Once CUDA is
 * initialised the devices are those of the driver, before that those of NVML under CUDA_VISIBLE_DEVICES: all
 * that the process sees, whether it uses them or not. It takes what NVML takes, and less than a millisecond
 * for each device and thousand fat binaries of eight images (measured, 2.6 ms for eight devices). */
ARCHGUARD_PREFLIGHT_API enum archguard_preflight_answer archguard_preflight_check(
    struct archguard_preflight_report* report);

/* 1 where the program can go on to use the GPU: code runs on every device that CUDA shows, or nobody can
 * tell. */
static inline int archguard_preflight_passes(const struct archguard_preflight_report* report) {
  return report->answer != ARCHGUARD_PREFLIGHT_FAILS;
}

#ifdef __cplusplus
} /* extern "C" */

#include <memory>
#include <stdexcept>

namespace archguard_preflight {

/* what() is the sentence, code() CUDA's number. Extension modules made with pybind11 or nanobind raise
 * RuntimeError. */
class Error : public std::runtime_error {
 public:
  Error(const char* sentence, int code) : std::runtime_error(sentence), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/* Throws Error where the code will not run on a device of this machine. */
inline void require() {
  const auto report = std::make_unique<archguard_preflight_report>();
  archguard_preflight_check(report.get());
  if (!archguard_preflight_passes(report.get())) throw Error(report->sentence, report->code);
}

} /* namespace archguard_preflight */
#endif

#endif
