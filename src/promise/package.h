#pragma once

#include <string>

#include "base/bytes.h"

namespace archguard::promise {

struct Metadata {
  std::string name;  // within the package
  std::string text;
};

// What a package that is a zip file says of itself: the variant.json of a wheel (PEP 825), the
// info/index.json of a conda package (its archive `info-*`).
Result<Metadata> metadata_of_package(const ByteSource& package, const std::string& path);

}  // namespace archguard::promise
