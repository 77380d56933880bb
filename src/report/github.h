#pragma once

#include "report/report.h"

namespace archguard {

// Workflow commands that GitHub shows as annotations, "::error file=fleet.csv,line=4::…": ten of each level
// at most, as GitHub drops the others of a step; the gravest first, and the tenth counts the rest.
class GithubReport : public Report {
 public:
  using Report::Report;
  void write_to(TextSink& sink) const override;
};

// As GitHub reads it back: of a command's message, and of one of its properties.
std::string github_message(std::string_view text);
std::string github_property(std::string_view text);

}  // namespace archguard
