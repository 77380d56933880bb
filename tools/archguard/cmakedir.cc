#include "cmakedir.h"

#include <filesystem>
#include <system_error>

#include "terminal.h"

namespace archguard {
namespace fs = std::filesystem;

Result<int> print_cmakedir() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{"/proc/self/exe", "cannot be read: " + error.message(), {}};
  const fs::path folder = (program.parent_path() / ARCHGUARD_CMAKEDIR_FROM_BIN).lexically_normal();
  if (!fs::exists(folder / "ArchGuardConfig.cmake", error))
    return Error{folder.string(), "holds no ArchGuardConfig.cmake: this archguard is not installed",
                 "cmake --install <build folder>"};
  print(folder.string() + "\n");
  ARCHGUARD_CHECK(finish_printing());
  return 0;
}

}  // namespace archguard
