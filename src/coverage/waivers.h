#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compat/arch.h"

namespace archguard {

// A kernel that is absent or hollow on some devices on purpose. A waiver file is CSV with the columns
// kernel,compute_cap,reason: globs (`*` any text, `?` one character) in the first two, a reason that is
// mandatory. The header may be left out.
struct Waiver {
  std::string kernel;       // matched against the mangled name and against the one that reports show
  std::string compute_cap;  // "7.5", "8.*"
  std::string reason;
  std::string origin;  // "waivers.csv:3"
};

// A waiver that excused nothing.
struct UnusedWaiver {
  Waiver waiver;
  bool kernel_read = false;  // some kernel that was read has such a name; else it may be misspelt
};

class Waivers {
 public:
  // `path` names the file in errors: "waivers.csv:3: …".
  static Result<Waivers> parse(std::string_view text, const std::string& path);

  bool empty() const { return entries_.empty(); }
  // A kernel that was read, by its mangled name, whether a device lacks it or not.
  void note(const std::string& kernel);
  // Is this kernel waived on such a device? Remembers which waivers were of use.
  bool waive(const std::string& kernel, ComputeCapability device);
  // The same, remembering nothing.
  bool is_waived(const std::string& kernel, ComputeCapability device) const;
  // A kernel that was not compared: it belongs to what fails on such a device before that. Whether its
  // waivers are needed cannot be told.
  void leave_open(const std::string& kernel, ComputeCapability device);
  // Those that were compared, and excused nothing.
  std::vector<UnusedWaiver> unused() const;

 private:
  struct FatbinEntry {
    Waiver waiver;
    bool kernel_read = false;
    bool used = false, open = false;
  };
  static bool is_for(const FatbinEntry& entry, ComputeCapability device);

  std::vector<FatbinEntry> entries_;
};

// The line of a waiver file that waives a kernel on such a device, without its end. The name is the one that
// reports show, or the mangled one where the other would waive more of `missing`: `float*` is a glob, too.
std::string waiver_line(const std::string& kernel, ComputeCapability device,
                        const std::vector<std::string>& missing);

// Does the glob match the whole text? Linear in the product of the sizes at worst.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace archguard
