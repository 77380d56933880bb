#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "host/host_file.h"

namespace archguard {

// Does a file begin like an archive, a package, a compressed file or an image of a disk, which may hold
// binaries and are not read? Zip files are, and are none of these. From the first bytes of the file, 4 KiB or
// all of a smaller one; those of some images stand further on, or at the end of a script.
bool is_packed(ByteView start);
bool is_packed(const ByteSource& source);

// Where packed bytes stand in a program, which unpacks them when it runs: behind its end (AppImage,
// self-extracting files), in a section that no loader reads (staticx), or as PyInstaller and UPX keep them. A
// zip file at the very end is read, and is none of these.
std::optional<std::uint64_t> packed_in_program(const ByteSource& source, const HostObject& program);

}  // namespace archguard
