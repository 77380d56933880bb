#pragma once

#include "installed/claims.h"
#include "installed/rooted_paths.h"

namespace archguard::installed {

// Claims files for the packages of each conda environment, a folder with `conda-meta` in it, that they stand
// in.
void claim_by_conda(const RootedPaths& paths, DatabaseFiles& files, Claims& claims);

}  // namespace archguard::installed
