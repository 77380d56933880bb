#include "doctor/doctor_report.h"

#include "base/text.h"

namespace archguard::doctor {

const std::vector<DoctorFormat>& doctor_formats() {
  static const std::vector<DoctorFormat> kFormats = {
      {"text", write_doctor_text}, {"json", write_doctor_json}, {"markdown", write_doctor_markdown}};
  return kFormats;
}

std::string answer_text(const Diagnosis& diagnosis) {
  std::size_t certain = 0, likely = 0;
  for (const Finding& finding : diagnosis.findings) {
    certain += finding.rank == Rank::certain;
    likely += finding.rank == Rank::likely;
  }
  const bool no_cause = diagnosis.answer == Answer::clean || diagnosis.answer == Answer::unknown;
  if (no_cause && diagnosis.unread.empty() && !diagnosis.judged)
    return "no file with device code was found: nothing was judged";
  switch (diagnosis.answer) {
    case Answer::clean:
      return "nothing wrong found";
    case Answer::cause:
      return "cause found: " + std::to_string(certain) + " certain, " + std::to_string(likely) + " likely";
    case Answer::no_gpu:
      return "no GPU in this machine: name one: " + diagnosis.asked + " --device 8.6";
    case Answer::unknown:
      break;
  }
  return "unknown: some of it could not be read, and the rest shows no cause";
}

std::string checked_text(const Diagnosis& diagnosis, bool full) {
  std::vector<std::string> texts;
  for (const Checked& each : diagnosis.checked)
    if (full || each.count != 0) texts.push_back(count_of(each.count, each.one, each.what));
  return texts.empty() ? "nothing" : join(texts, ", ");
}

}  // namespace archguard::doctor
