#include "base/standard_streams.h"

namespace archguard {

void keep_standard_streams_apart() {}  // handles there have no numbers that are given out anew

}  // namespace archguard
