#pragma once

namespace archguard {

// For the first line of main(): a standard stream that the caller closed (`>&-`) stays closed to whoever uses
// it. Else the next file that is opened would get its number, and be written to in its place.
void keep_standard_streams_apart();

}  // namespace archguard
