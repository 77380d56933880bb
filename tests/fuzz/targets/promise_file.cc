#include "promise/promise.h"
#include "targets.h"

namespace archguard::fuzz {

// A promise, as a text of lines and as JSON: what is understood admits something, and its devices can be
// listed.
void promise_file(ByteView bytes) {
  for (const bool json : {false, true}) {
    archguard::promise::Promise read;
    if (json) {
      const Status status = archguard::promise::read_json(std::string(bytes.text()), "f", read);
      promise(status.ok() || !status.error().what.empty());
    } else {
      const auto found = archguard::promise::read_line(bytes.text(), "f", read);
      promise(found.ok() || !found.error().what.empty());
      if (found && !*found) promise(read.admits.empty() && read.images.empty());
    }
    if (!archguard::promise::tells_devices(read)) continue;
    const DeviceList devices = archguard::promise::promised_devices(read, true);
    for (std::size_t i = 0; i < devices.size(); ++i) promise(!devices[i].origin.empty());
  }
}

}  // namespace archguard::fuzz
