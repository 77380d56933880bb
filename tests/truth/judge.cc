// Which image of a fat binary the rules let a driver take, for the replay of records:
//
//   truth_judge FILE CC DRIVER_CUDA [NAME]
//
// NAME is a variable that makes the driver pass over SASS. Prints the number of the image in its fat binary,
// from 1, as the kernels of a record mark themselves; 0 where none is taken. Behind it, by nvJitLink's order.
// Exit: 0 answered, 2 usage or not one fat binary.

#include <cstdio>

#include "coverage/fatbin_code.h"
#include "coverage/judge_fatbin.h"
#include "coverage/other_order.h"

using namespace archguard;

int main(int argc, char** argv) {
  const auto source = argc >= 4 ? FileSource::open(argv[1]) : Result<FileSource>(Error{"", "usage", ""});
  Device device;
  if (argc >= 4) {
    device.capability = parse_capability(argv[2]);
    device.driver_cuda = parse_version(argv[3]);
  }
  if (!source || !device.capability || !device.driver_cuda) {
    std::fprintf(stderr, "usage: truth_judge FILE CC DRIVER_CUDA [NAME]\n");
    return 2;
  }
  JudgePolicy policy;
  if (argc > 4) policy.environment.forces_jit = argv[4];
  const DeviceCode code = read_device_code(*source, argv[1]);
  if (!code.errors.empty() || code.objects.size() != 1 || code.objects[0].fatbins.size() != 1) {
    std::fprintf(stderr, "truth_judge: %s is not one container\n", argv[1]);
    return 2;
  }
  const FatbinCode fatbin = FatbinCodeReader(code, *source).next();
  const Judgement judgement = judge(fatbin, device, policy);
  const auto linked = linker_choice(fatbin, *device.capability);
  std::printf("%zu %zu\n", judgement.image ? *judgement.image + 1 : 0, linked ? *linked + 1 : 0);
  return 0;
}
