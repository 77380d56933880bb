#pragma once

#include <string>
#include <vector>

#include "fatbin/passed_over.h"
#include "files.h"
#include "installed.h"

namespace archguard {

// The files that the paths name, in their order; folders are walked, each in sorted order. Of links in a
// folder those to files are followed, and each file is taken once, by its own name where that was walked; so
// no more files are read than there are names. A link to a folder that was not walked is not followed, since
// there is no telling how much that leads to, and a broken one cannot be: `passed_over` has them, a broken
// one only where it is named like a binary. Pipes and devices are left out.
std::vector<InputFile> walk(const std::vector<std::string>& paths, PassedOver& passed_over);

// The same of paths that were found elsewhere, and are taken as if they stood in one folder.
std::vector<InputFile> walk_found(const FoundPaths& found, PassedOver& passed_over);

}  // namespace archguard
