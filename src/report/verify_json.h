#pragma once

#include "base/text_source.h"
#include "coverage/verification.h"

namespace archguard {

// The document "archguard.verify/1", indented, with a line end.
class VerifyJson : public TextSource {
 public:
  explicit VerifyJson(const Verification& verification) : verification_(verification) {}
  void write_to(TextSink& sink) const override;

 private:
  const Verification& verification_;
};

}  // namespace archguard
