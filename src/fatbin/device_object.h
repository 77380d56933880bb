#pragma once

#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "fatbin/fatbin_list.h"
#include "host/host_file.h"

namespace archguard::fatbin {

// Finds and reads the fat binaries of one host object into `out`. `source` is the object's bytes.
void read_device_object(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code,
                        Kept& kept);

}  // namespace archguard::fatbin
