#pragma once

#include <string>
#include <vector>

#include "host/host_file.h"
#include "fatbin/container_list.h"
#include "fatbin/fatbin.h"

namespace archguard::fatbin {

// Finds and reads the containers of one host object into `out`. `source` is the object's bytes.
void read_object(const ByteSource& source, const HostObject& host, DeviceObject& out, DeviceCode& code,
                 Kept& kept);

}  // namespace archguard::fatbin
