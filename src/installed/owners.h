#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "installed/package.h"
#include "installed/rivals.h"

namespace archguard {

// Who put a file where it is, as the databases of package managers tell, which are read and nothing else: no
// program is started. They were written by others. What is broken in one, or cannot be true, is an error that
// names it, and the others answer. Nothing rests on an owner but words.
struct Owners {
  std::vector<std::optional<Package>> of;  // for each of the paths, nothing where none is known
  std::vector<Error> errors;
  std::vector<Rivals> rivals = {};  // files on disk that two packages claim; `of` has the first
};

// Of files on disk. `root` is the folder that is the root of their system, empty for this one; links in it
// lead to where they would lead there, and a path outside of it belongs to nobody. Asked are, in this order:
// - conda: `conda-meta/*.json` of each folder above the file (conda's documentation, "conda-meta");
// - dpkg: `/var/lib/dpkg/info/*.list` with the diversions, versions from `status` (dpkg(1), dpkg-divert(1));
// - pip and its like: `*.dist-info/RECORD` in each folder above the file, and in `lib/python3*/site-packages`
//   and `dist-packages` of these ("Recording installed projects", packaging.python.org).
Owners owners_of(const std::vector<std::string>& paths, const std::string& root = {});

// Of members of a zip file, called `path` in errors: those of a wheel belong to what its RECORD says. A
// member of a wheel in the zip file is "x.whl(lib/y.so)".
Owners owners_in_zip(const ByteSource& zip, const std::string& path, const std::vector<std::string>& members);

}  // namespace archguard
