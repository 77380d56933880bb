#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coverage/fix.h"
#include "coverage/judge.h"

namespace archguard {

// What is to be said of a device that none of the bare images runs on (Container::bare).
enum class EmbeddedPolicy {
  error,
  warn,  // an error all the same where they are all the code that the file holds
  off,   // they are not judged
};

// The bare images of one file on one device, judged together: the program hands one of them to the driver.
struct EmbeddedResult {
  std::uint64_t total = 0;  // with kernels; the others are neither counted nor judged
  std::uint64_t fitting = 0, unknown = 0;

  // Where none fits; else empty.
  int code = 0;                         // as Judgement::code, of the image that comes closest
  std::string reason;                   // as Judgement::reason
  std::string where;                    // that image
  std::string found;                    // all of them: "sm_90a, compute_90"
  std::string fix;                      // the line to type
  Fix mend;                             // what `fix` says
  std::string kernel;                   // one of its kernels, mangled; may be empty
  std::optional<Version> needs_driver;  // the lowest CUDA that one of them needs, where no SASS fits

  bool ltoir = false;  // none of them is anything but LTO-IR, which the program links for the device it finds
  bool is_error = false;     // by the policy; else a warning
  bool comes_later = false;  // a newer driver mends it, and the CUDA runtime fails before: neither of both

  bool lacking() const { return total != 0 && fitting == 0; }
  bool undecided() const { return lacking() && unknown != 0; }
};

// Does this bare image ask for something? A relocatable cubin, which no driver loads by itself, and PTX for
// OptiX do not.
bool asks_as_embedded(const ContainerCode& code);

class EmbeddedJudge {
 public:
  // Both outlive this.
  EmbeddedJudge(const Device& device, const JudgePolicy& policy) : device_(device), policy_(policy) {}

  // `place` names it in messages.
  void add(const std::string& place, const ContainerCode& code);
  // `library`: it is others' work, which cannot be built anew.
  EmbeddedResult finish(bool library) const;

 private:
  struct Failed {
    Judgement judgement;
    std::string place, kernel;
  };
  std::string names_text() const;

  const Device& device_;
  const JudgePolicy& policy_;
  void say_fix(EmbeddedResult& result, const Judgement& judgement, bool library) const;

  std::string first_;  // image's place
  std::uint64_t total_ = 0, sass_ = 0, jit_ = 0, unknown_ = 0;
  bool any_but_ltoir_ = false;
  std::optional<Failed> failed_;  // that comes closest to running
  std::optional<Version> needs_driver_;
  ContainerCode all_;               // the images, each kind once
  std::vector<std::string> names_;  // of images, each once
};

}  // namespace archguard
