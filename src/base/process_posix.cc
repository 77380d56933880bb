#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"

namespace archguard {

bool is_program(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const auto folder : split(path != nullptr ? path : "", ':')) {
    std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (path != nullptr && is_program(candidate)) return candidate;
  }
  return {};
}

}  // namespace archguard
