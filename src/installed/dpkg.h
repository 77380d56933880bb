#pragma once

#include "installed/claims.h"
#include "installed/rooted_paths.h"

namespace archguard::installed {

// Claims files for Debian packages.
void claim_by_dpkg(RootedPaths& paths, DatabaseFiles& files, Claims& claims);

}  // namespace archguard::installed
