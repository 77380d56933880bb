#include "device/fleet.h"
#include "select/select.h"
#include "targets.h"

namespace archguard::fuzz {

// The value of --expect and of --baseline, and that of --device.
void arch_list(ByteView bytes) {
  const auto entries = parse_arch_list(std::string(bytes.text()));
  promise(entries.ok() || !entries.error().what.empty());
  const auto device = parse_device_option(bytes.text());
  promise(device.ok() || !device.error().what.empty());
}

}  // namespace archguard::fuzz
