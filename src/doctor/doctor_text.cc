#include <algorithm>
#include <set>

#include "base/text.h"
#include "doctor/doctor_report.h"

namespace archguard::doctor {
namespace {

constexpr std::size_t kWholeFindings = 3;  // that are told with their evidence
constexpr std::size_t kOthersShown = 8, kUnreadShown = 5;
constexpr std::size_t kAlikeFolded = 4, kAlikeNamed = 3;

class DoctorText {
 public:
  DoctorText(const Diagnosis& diagnosis, const ReportWords& words, const Style& style, TextSink& sink)
      : diagnosis_(diagnosis), words_(words), style_(style), sink_(sink) {}

  void write() {
    for (const Told& told : diagnosis_.told)
      line({(told.code == 0 ? "the error" : "error " + std::to_string(told.code)) +
            " means: " + told.meaning});
    std::size_t shown = 0, left_out = 0;
    std::set<std::string> folded;  // what was said of many packages in one line
    for (const Finding& finding : diagnosis_.findings) {
      const bool summary = finding.id == FindingId::not_architecture && diagnosis_.answer == Answer::clean;
      if (words_.full || summary || (is_cause(finding) && shown < kWholeFindings))
        whole(finding), ++shown;
      else if (const auto alike = alike_to(finding); alike.size() >= kAlikeFolded)
        shown += folded.insert(key_of(finding)).second && fold(alike) ? 1 : 0;
      else if (shown < kWholeFindings + kOthersShown)
        brief(finding), ++shown;
      else
        ++left_out;
    }
    if (left_out != 0) line({"  and " + count_of(left_out, "finding") + " more: --full"});
    unread();
    line({"gpu: " + gpus()});
    for (const std::string& environment : diagnosis_.environments) line({"environment: " + environment});
    line({"checked: " + checked_text(diagnosis_, words_.full)});
    const std::string answer = answer_text(diagnosis_);
    line({diagnosis_.answer == Answer::clean   ? style_.good(answer)
          : diagnosis_.answer == Answer::cause ? style_.error(answer)
                                               : style_.warning(answer)});
  }

 private:
  void line(const std::vector<Shown>& parts) { sink_.write(line_of(parts)); }

  Shown rank_of(const Finding& finding) const {
    const std::string text = is_cause(finding) ? std::string(name_of(finding.rank)) + " cause"
                                               : std::string(name_of(finding.rank));
    return finding.rank == Rank::certain ? style_.error(text)
           : finding.rank == Rank::note  ? Shown(text)
                                         : style_.warning(text);
  }

  void whole(const Finding& finding) {
    line({rank_of(finding), " (" + std::string(name_of(finding.id)) + "): ", style_.strong(finding.cause)});
    for (const std::string& each : finding.evidence) line({"  " + each});
    if (!finding.fix.empty()) line({"  " + std::string(fix_word(finding)) + ": " + finding.fix});
  }

  void brief(const Finding& finding) {
    line({rank_of(finding),
          " (" + std::string(name_of(finding.id)) + "): " + finding.cause +
              (finding.fix.empty() || finding.rank == Rank::note ? "" : "; fix: " + finding.fix)});
  }

  // What is said of a package, without its name.
  static std::string tail_of(const Finding& finding) {
    const std::string name = finding.package ? to_string(*finding.package) : std::string();
    return !name.empty() && starts_with(finding.cause, name) ? finding.cause.substr(name.size())
                                                             : std::string();
  }

  static std::string key_of(const Finding& finding) {
    const std::string tail = tail_of(finding);
    return tail.empty() ? tail
                        : std::string(name_of(finding.id)) + " " + std::string(name_of(finding.rank)) + tail;
  }

  // The findings that say the same of other packages; none where it is not of packages.
  std::vector<const Finding*> alike_to(const Finding& finding) const {
    std::vector<const Finding*> alike;
    const std::string key = is_cause(finding) ? std::string() : key_of(finding);
    for (const Finding& each : diagnosis_.findings)
      if (!key.empty() && key_of(each) == key) alike.push_back(&each);
    return alike;
  }

  bool fold(const std::vector<const Finding*>& alike) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kAlikeNamed; ++i) names.push_back(alike[i]->package->name);
    line({rank_of(*alike.front()), " (" + std::string(name_of(alike.front()->id)) + "): each of " +
                                       join(names, ", ") + " and " +
                                       count_of(alike.size() - kAlikeNamed, "other package") +
                                       tail_of(*alike.front()) + " (--full names them)"});
    return true;
  }

  void unread() {
    std::size_t shown = 0;
    for (const Error& error : diagnosis_.unread) {
      if (shown++ == kUnreadShown && !words_.full) {
        line({"  and " + std::to_string(diagnosis_.unread.size() - kUnreadShown) + " more: --full"});
        return;
      }
      line({style_.warning("not looked at"),
            ": " + error.text() + (error.fix.empty() ? "" : "; " + error.fix)});
    }
  }

  std::string gpus() const {
    std::vector<std::string> texts;
    for (const Device& device : diagnosis_.devices) {
      const std::string text =
          archguard::describe(device) +
          (device.driver_version.empty() ? "" : ", driver " + device.driver_version) +
          (device.driver_cuda ? ", CUDA " + to_string(*device.driver_cuda) : std::string()) +
          (device.visible ? "" : ", hidden or not answering");
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
    return texts.empty() ? "none" : join(texts, "; ");
  }

  const Diagnosis& diagnosis_;
  const ReportWords& words_;
  const Style& style_;
  TextSink& sink_;
};

}  // namespace

void write_doctor_text(const Diagnosis& diagnosis, const ReportWords& words, const Style& style,
                       TextSink& sink) {
  DoctorText(diagnosis, words, style, sink).write();
}

}  // namespace archguard::doctor
