#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compat/arch.h"

namespace archguard {

// A kernel that is absent or hollow on some devices on purpose. A waiver file is CSV with the columns
// kernel,compute_cap,reason: globs (`*` any text, `?` one character) in the first two, a reason that is
// mandatory.
struct Waiver {
  std::string kernel;       // matched against the mangled name
  std::string compute_cap;  // "7.5", "8.*"
  std::string reason;
  std::string origin;  // "waivers.csv:3"
};

class Waivers {
 public:
  // `path` names the file in errors: "waivers.csv:3: …".
  static Result<Waivers> parse(std::string_view text, const std::string& path);

  // Is this kernel waived on such a device? Remembers which waivers were of use.
  bool waive(const std::string& kernel, ComputeCapability device);
  std::vector<Waiver> unused() const;

 private:
  std::vector<Waiver> waivers_;
  std::vector<bool> used_;
};

// Does the glob match the whole text? Linear in the product of the sizes at worst.
bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace archguard
