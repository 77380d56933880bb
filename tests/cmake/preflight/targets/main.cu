#include <cstdio>

#include "archguard_preflight.h"

int plugin();

__global__ void scale(float* x) { *x *= 2; }

int main(int argc, char**) {
  if (argc == 2) {  // ask, and nothing else
    static archguard_preflight_report report;
    archguard_preflight_check(&report);
    std::printf("%d: %s\n", report.code, report.sentence);
    return 0;
  }
  if (argc == 3) return plugin();
  float* x = nullptr;
  cudaMalloc(&x, sizeof *x);
  scale<<<1, 1>>>(x);
  std::puts("goes on");
}
