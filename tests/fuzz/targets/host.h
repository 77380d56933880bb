#pragma once

#include "host/host_file.h"
#include "targets.h"

namespace archguard::fuzz {

// What every reader of host objects promises: sections with bytes lie inside.
inline void check_object(const HostObject& object, std::uint64_t size) {
  promise(inside(object.offset, object.size, size));
  for (const Section& section : object.sections)
    promise(!section.has_bytes || inside(section.offset, section.size, object.size));
}

}  // namespace archguard::fuzz
