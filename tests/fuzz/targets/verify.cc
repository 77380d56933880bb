#include "coverage/verify.h"

#include "device_code.h"

namespace archguard::fuzz {

// A whole judgement, for a device of today, one of none, and one whose driver is too old for any runtime.
void verify(ByteView bytes) {
  if (names_files(bytes)) return;
  VerifyRequest request;
  std::vector<Device> devices(3);
  devices[0].capability = ComputeCapability{8, 6};
  devices[1].capability = ComputeCapability{12, 0};
  devices[2].capability = ComputeCapability{8, 6};
  devices[2].driver_cuda = Version{1, 0};
  request.classes = classes_of(devices);
  Waivers waivers;
  const MemorySource source(bytes);
  const DeviceCode code = read_device_code(source, "f");
  for (const DeviceObject& object : code.objects)
    for (const Fatbin& fatbin : object.fatbins)
      for (const FatbinEntry& entry : fatbin.entries)
        if (entry.uncompressed_size > (std::uint64_t{1} << 20))
          return;  // a real allocation, as the format allows
  const FileResult result = verify_file(code, source, "f", request, waivers);
  for (const DeviceResult& device : result.devices)
    promise(device.coverage != Coverage::covered || (code.errors.empty() && result.errors.empty()));
}

}  // namespace archguard::fuzz
