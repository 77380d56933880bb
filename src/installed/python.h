#pragma once

#include <string>
#include <string_view>

#include "installed/claims.h"
#include "installed/rooted_paths.h"

namespace archguard::installed {

// Claims files for the packages that pip, uv and others installed.
void claim_by_pip(const RootedPaths& paths, DatabaseFiles& files, Claims& claims);

// "torch-2.7.1.dist-info": its name and version. The name in METADATA, if that is the same but for its
// spelling, is how it calls itself; `where` is METADATA in errors.
Package package_of_dist_info(std::string_view folder, std::string_view metadata, const std::string& where,
                             Claims& claims);

// Claims the files of a RECORD, whose paths begin at the folder that its own folder stands in: `below`, which
// is empty or ends with "/". `where` is the RECORD in errors.
void claim_by_record(std::string_view record, const std::string& below, const Package& package,
                     const std::string& where, Claims& claims);

inline constexpr std::string_view kDistInfo = ".dist-info";

}  // namespace archguard::installed
