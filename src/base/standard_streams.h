#pragma once

namespace archguard {

// For the first line of main(): a standard stream that the caller closed (`>&-`) stays closed to whoever uses
// it. Else the next file that is opened would get its number, and be written to in its place. A file that
// outgrows the caller's limit (`ulimit -f`) is from here on one that cannot be written, not the end of the
// program.
void keep_standard_streams_apart();

}  // namespace archguard
