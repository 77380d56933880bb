#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace archguard {

// What /etc/ld.so.cache tells: the paths of each library name, in the file's order. A name may stand for
// several files, of other machines or for newer processors. The texts are those of the file's bytes, which
// many entries may share.
using LoaderCache = std::map<std::string_view, std::vector<std::string_view>>;

// The format that glibc writes since 2.2. Entries whose texts do not lie inside are left out, as the loader
// does, and those with texts that no path has room for.
Result<LoaderCache> parse_loader_cache(ByteView bytes);

}  // namespace archguard
