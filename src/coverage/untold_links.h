#pragma once

#include "coverage/verify.h"

// Separate compilation in a file whose section table was removed: its registrations cannot be found, so
// nothing tells which fat binaries are parts of a device link, and which one the driver can link again from
// them.
namespace archguard {

// Is this fat binary, which was read, such a part, by what is in it?
bool is_untold_part(const DeviceObject& object, const FatbinCode& code);

// In a file that holds one, a fat binary without an image for the device may still be linked again: unknown.
void doubt_missing_images(DeviceResult& result);

}  // namespace archguard
