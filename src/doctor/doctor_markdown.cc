#include "base/text.h"
#include "doctor/doctor_report.h"
#include "doctor/public_text.h"
#include "report/markdown.h"

namespace archguard::doctor {
namespace {

class DoctorMarkdown {
 public:
  DoctorMarkdown(const Diagnosis& diagnosis, const ReportWords& words, TextSink& sink)
      : diagnosis_(diagnosis), names_(private_names(diagnosis, words)), full_(words.full), sink_(sink) {}

  void write() {
    line("### archguard doctor: " + shown(answer_text(diagnosis_)));
    line("");
    for (const Told& told : diagnosis_.told) line("- the error means: " + shown(told.meaning));
    for (const Finding& finding : diagnosis_.findings) {
      line("- **" + std::string(name_of(finding.rank)) + "** (" + std::string(name_of(finding.id)) +
           "): " + shown(finding.cause));
      for (const std::string& each : finding.evidence) line("  - " + shown(each));
      if (!finding.fix.empty()) line("  - " + std::string(fix_word(finding)) + ": " + shown(finding.fix));
    }
    for (const Error& error : diagnosis_.unread) line("- not looked at: " + shown(error.text()));
    line("");
    line("| what | version |");
    line("|---|---|");
    for (const Device& device : diagnosis_.devices)
      line("| GPU | " + shown(archguard::describe(device)) +
           (device.visible ? "" : " (hidden or not answering)") + " |");
    for (const auto& [name, version] : diagnosis_.versions)
      line("| " + shown(name) + " | " + shown(version) + " |");
    for (const std::string& environment : diagnosis_.environments)
      line("| environment | " + shown(environment) + " |");
    line("");
    line("Checked: " + shown(checked_text(diagnosis_, full_)) + ".");
  }

 private:
  void line(const std::string& text) { sink_.write(text + "\n"); }
  std::string shown(const std::string& text) const { return markdown_escape(public_text(text, names_)); }

  const Diagnosis& diagnosis_;
  const PrivateNames names_;
  const bool full_;
  TextSink& sink_;
};

}  // namespace

void write_doctor_markdown(const Diagnosis& diagnosis, const ReportWords& words, const Style&,
                           TextSink& sink) {
  DoctorMarkdown(diagnosis, words, sink).write();
  sink.flush();
}

}  // namespace archguard::doctor
