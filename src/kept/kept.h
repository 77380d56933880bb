#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coverage/verify.h"
#include "kept/identity.h"
#include "kept/kept_folder.h"
#include "kept/question.h"

namespace archguard {

// The verdicts on files, kept in folders, so that a library that many programs need is read once. A verdict
// is taken again where the very file is as it was (FileIdentity) and the same was asked (question_of).
// Nothing that happens to the folders is an error: what is damaged, of another build of ArchGuard or not this
// user's own is not there, and what cannot be written is judged anew the next time.
//
//   if (auto kept = verdicts.find(path, question)) return *kept;
//   const KeptTurn turn = verdicts.wait_turn(path, question);  // of all processes that want it now
//   if (auto kept = verdicts.find(path, question)) return *kept;
//   const auto before = identity_of(path);
//   … judge …
//   if (before) verdicts.keep(path, *before, question, result);
class KeptVerdicts {
 public:
  // They are asked in their order, and written to all; the records stand in the folder "verdicts" of each.
  // Without any, nothing is kept.
  explicit KeptVerdicts(const std::vector<std::string>& folders, KeptFolder::Limits limits = {});

  bool keeps() const { return !folders_.empty(); }

  // `path` is how the result names the file. What a caller tells of a file beside verify_file()'s answer (was
  // it named, who needs it, what it needs, its alternatives) is not kept.
  std::optional<FileResult> find(const std::string& path, const std::string& question) const;

  // `before` is of before the file was opened. Not kept: what has errors, which may not be there the next
  // time (the permission, memory); of a file that changed meanwhile, or so shortly before that another change
  // would not show; and what is too large. `result` must hang on nothing but the file and the question: no
  // thin archive, no waivers, no read that failed (ByteSource::failed()), and it is all that the file holds.
  void keep(const std::string& path, const FileIdentity& before, const std::string& question,
            const FileResult& result) const;

  // One process judges, the others wait for it. Nothing: another one has the turn now.
  std::optional<KeptTurn> try_turn(const std::string& path, const std::string& question) const;
  // Waits until it is this process's turn, or nobody's for too long.
  KeptTurn wait_turn(const std::string& path, const std::string& question,
                     std::chrono::milliseconds patience = std::chrono::minutes(1)) const;

 private:
  std::vector<KeptFolder> folders_;
};

}  // namespace archguard
