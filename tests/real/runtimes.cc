// Prints of each file, and each member of an archive, whether the CUDA runtime is in it, and since which
// release.
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "fatbin/cuda_runtime.h"

using namespace archguard;

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto file = FileSource::open(argv[i]);
    if (!file) {
      std::fprintf(stderr, "%s\n", file.error().text().c_str());
      return 1;
    }
    std::optional<HeldRuntime> held;
    for (const DeviceObject& object : read_device_code(*file, argv[i]).objects) {
      const auto of_member = held_runtime(object, *file);
      if (of_member && (!held || held->at_least < of_member->at_least)) held = of_member;
    }
    std::printf("%s\t%s\n", argv[i],
                !held             ? "none"
                : !held->at_least ? "some"
                                  : to_string(*held->at_least).c_str());
  }
  return 0;
}
