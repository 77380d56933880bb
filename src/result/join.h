#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coverage/verification.h"

namespace archguard {

// What one run of verify found.
struct ResultPart {
  std::string name;  // of the file that holds it, for messages
  Verification verification;
  bool hint_scope = false;  // of ReportOptions
};

// Joins parts one by one: what one run over the files of all of them would have found. An error where a part
// was asked for other devices than those before, or tells something else of one of their files; it is not
// added then.
class Join {
 public:
  Status add(ResultPart& part);                                     // takes what it adds
  const std::vector<std::string>& globs() const { return globs_; }  // of alternatives
  Verification finish();                                            // of at least one part

 private:
  Status check_question(const ResultPart& part) const;
  Status check_file(const std::string& part, const FileResult& file) const;
  void add_file(const std::string& part, FileResult file);
  void keep_unused(const std::vector<UnusedWaiver>& more);
  void add_needed_outcome(NeededOutcome& more);

  Verification all_;
  std::string first_;  // the name of the first part
  std::vector<std::string> globs_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;  // by path and member
  std::vector<std::string> parts_;                                    // of each file
  std::set<std::string> passed_over_, looked_in_, needed_passed_over_, needed_errors_, owner_errors_;
};

// What one run over the files of all parts would have found. An error where they were asked for other
// devices, or two tell different things of one file. At least one part.
Result<Verification> join_parts(std::vector<ResultPart> parts);

}  // namespace archguard
