#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coverage/bare_images.h"
#include "coverage/fix.h"
#include "coverage/judge_fatbin.h"

namespace archguard {

// What is to be said of a device that none of the bare images runs on (Fatbin::bare), or none of a module.
enum class EmbeddedPolicy {
  error,
  warn,  // an error all the same where they are all the code that the file holds
  off,   // they are not judged
};

// The bare images of one file on one device, judged together: the program hands one of each module to the
// driver (BareImages).
struct EmbeddedResult {
  std::uint64_t total = 0;  // with kernels; the others are neither counted nor judged
  std::uint64_t fitting = 0, unknown = 0;

  // Where none fits, or none of a module; else empty.
  int code = 0;                         // as Judgement::code, of the image that comes closest
  std::string reason;                   // as Judgement::reason
  std::string where;                    // that image
  std::string found;                    // all of them, or of the module: "sm_90a, compute_90"
  std::string fix;                      // the line to type
  Fix mend;                             // what `fix` says
  std::string kernel;                   // one of its kernels, mangled; may be empty
  std::optional<Version> needs_driver;  // the lowest CUDA that one of them needs, where no SASS fits

  // Where some fit: the kernels that none of these holds, mangled. The reason and what stands with it is that
  // of the module of `kernel`.
  std::vector<std::string> without;
  // No module as a whole: images that share kernels with some that fit hold them. The program may need them
  // on other devices alone. Never an error.
  bool in_doubt = false;

  // Where some fit: kernels that none of these holds and that are not asked of this device, as images with an
  // a or f suffix alone hold them, or their names tell the architecture; mangled. The image of the first of
  // them.
  std::vector<std::string> elsewhere;
  std::string elsewhere_in;

  // With lacking(): a runtime takes them, libomptarget's or GCC's, not the program itself.
  bool taken_by_runtime = false;
  bool ltoir = false;  // none of them is anything but LTO-IR, which the program links for its device
  bool may_run =
      false;  // with lacking(): an image that is not understood, or the program may need none of them there
  bool for_others = false;   // with lacking(): none of the kernels is asked of this device; beside code that
                             // runs there, never an error
  bool is_error = false;     // by the policy; else a warning
  bool comes_later = false;  // a newer driver mends it, and the CUDA runtime fails before: neither of both

  bool lacking() const { return total != 0 && (fitting == 0 || !without.empty()); }
  bool undecided() const { return lacking() && (may_run || in_doubt); }
};

// `library`: it is others' work, which cannot be built anew, and which knows what it needs on which device:
// distinct modules are not told apart.
EmbeddedResult judge_embedded(const BareImages& images, const Device& device, const JudgePolicy& policy,
                              bool library);

}  // namespace archguard
