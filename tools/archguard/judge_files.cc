#include "judge_files.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "host/host_file.h"
#include "needed.h"

namespace archguard {
namespace {

// A file of LTO-IR, as nvcc -ltoir makes it. What becomes of it when the program runs, no file tells; one
// that is asked for by name is unknown, and among others it is named.
bool is_ltoir_alone(const DeviceCode& code) {
  if (!code.errors.empty() || code.objects.size() != 1) return false;
  const DeviceObject& object = code.objects.front();
  if (object.fatbins.size() != 1 || !object.fatbins.front().bare) return false;
  const Fatbin& fatbin = object.fatbins.front();
  return fatbin.offset == 0 && fatbin.size == object.file_size &&
         fatbin.entries.front().kind == EntryKind::ltoir && !fatbin.entries.front().optix;
}

// What is left to be judged where some objects of LLVM's bitcode or MSVC's /GL are passed over.
DeviceCode without_bitcode(DeviceCode code, const std::function<bool(const std::string&)>& passes) {
  std::set<std::string> passed;
  for (const std::string& object : code.bitcode)
    if (passes(object)) passed.insert(object);
  code.errors.erase(std::remove_if(code.errors.begin(), code.errors.end(),
                                   [&](const Error& error) { return passed.count(error.where) != 0; }),
                    code.errors.end());
  return code;
}

class Judging {
 public:
  Judging(const std::vector<InputFile>& files, const FileQuestions& questions, PassedOver& passed_over)
      : files_(files), questions_(questions), passed_over_(passed_over), judged_(files.size()) {
    if (questions.kept.keeps() && questions.waivers.empty())
      question_ = question_of(questions.of_library, ARCHGUARD_VERSION);
  }

  // What another process judges is left to it, and looked for when the rest is done.
  std::vector<std::vector<JudgedFile>> judge(const FilesProgress& progress) {
    std::vector<Turn> now;
    std::vector<std::size_t> later;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!may_keep(i)) {
        now.push_back({i, {}, std::nullopt});
      } else if (!find(i)) {
        auto turn = questions_.kept.try_turn(files_[i].path, question_);
        if (!turn)
          later.push_back(i);
        else if (!find(i))  // it may have come to its end just now
          now.push_back(begin(i, std::move(*turn)));
      }
    }
    const std::size_t found = files_.size() - now.size() - later.size();
    read(now, [&](FilesDone done) {
      done.files += found;
      progress(done);
    });
    for (std::size_t i = 0; i < later.size(); ++i) {
      KeptTurn turn = questions_.kept.wait_turn(files_[later[i]].path, question_);
      if (!find(later[i])) {
        std::vector<Turn> one;
        one.push_back(begin(later[i], std::move(turn)));
        read(one, [](const FilesDone&) {});
      }
      progress({files_.size() - later.size() + i + 1});
    }
    return std::move(judged_);
  }

 private:
  // A file to be judged by this process.
  struct Turn {
    std::size_t file;
    KeptTurn turn;
    std::optional<FileIdentity> before;
  };

  Turn begin(std::size_t i, KeptTurn turn) const { return {i, std::move(turn), identity_of(files_[i].path)}; }

  bool may_keep(std::size_t i) const {
    return !question_.empty() && !files_[i].needed_by.empty() && !files_[i].error;
  }

  bool find(std::size_t i) {
    auto result = questions_.kept.find(files_[i].path, question_);
    if (!result) return false;
    add(i, {std::move(*result), false});
    return true;
  }

  void add(std::size_t i, JudgedFile judged) {
    judged.result.named = files_[i].named;
    judged.result.found_under = files_[i].found_under;
    judged.result.needed_by = files_[i].needed_by;
    judged.result.by_linker = files_[i].by_linker;
    judged.result.needs = files_[i].needs;
    judged_[i].push_back(std::move(judged));
  }

  void read(std::vector<Turn>& turns, const FilesProgress& progress) {
    std::vector<InputFile> inputs;
    for (const Turn& each : turns) inputs.push_back(files_[each.file]);
    bool failed = false;  // or its verdict rests on other files
    std::size_t passed_over = passed_over_.size();
    const auto visit = [&](const InputFile& input, const DeviceCode& code, const ByteSource& source) {
      const std::size_t i = turns[static_cast<std::size_t>(&input - inputs.data())].file;
      if (is_ltoir_alone(code) && (!input.named || !code.member.empty())) {
        passed_over_.push_back({object_name(input.path, code.member), UnreadKind::ltoir});
        return;
      }
      const bool is_needed = !input.needed_by.empty();
      const VerifyRequest& request = is_needed ? questions_.of_library : questions_.own;
      const bool any_passed = !is_needed && questions_.passes_bitcode && !code.bitcode.empty();
      bool depends = false;
      const AskElsewhere ask = ask_of(input, code, depends);
      OnJudged on_judged;
      if (questions_.on_judged)
        on_judged = [&](const DeviceObject& object, const FatbinCode& judged) {
          questions_.on_judged(input.path, code.member, object, judged);
        };
      FileResult result =
          any_passed ? verify_file(without_bitcode(code, questions_.passes_bitcode), source, input.path,
                                   request, questions_.waivers, ask, on_judged)
                     : verify_file(code, source, input.path, request, questions_.waivers, ask, on_judged);
      result.opened = source.size() != 0 || !code.member.empty();
      failed |= source.failed() || depends;
      add(i, {std::move(result), is_linked_member(code)});
    };
    std::size_t ended = 0;
    const auto next = [&](const FilesDone& done) {
      // Its last file is whole now. One with several results, or that was left out, is not kept.
      if (done.files != ended) {
        end(turns[done.files - 1], !failed && passed_over == passed_over_.size());
        ended = done.files;
        failed = false;
        passed_over = passed_over_.size();
      }
      progress(done);
    };
    visit_files(inputs, visit, next, passed_over_);
  }

  // Where a member of a zip file will find its libraries, nobody knows. What a library that is needed lacks
  // is looked for in all that is loaded with it; the verdict is kept where it rests on that file alone.
  AskElsewhere ask_of(const InputFile& input, const DeviceCode& code, bool& depends) const {
    if (!code.member.empty()) return {};
    if (input.needed_by.empty()) return ask_libraries(input.path, questions_.where);
    return [this, &input, &depends](const std::set<std::string>& functions) {
      depends = true;
      return elsewhere_of_needed(input.path, functions);
    };
  }

  // What each of the files that load it has.
  FunctionsElsewhere elsewhere_of_needed(const std::string& library,
                                         const std::set<std::string>& functions) const {
    FunctionsElsewhere all;
    bool any = false;
    for (const InputFile& file : files_) {
      if (std::find(file.needs.begin(), file.needs.end(), library) == file.needs.end()) continue;
      FunctionsElsewhere found = ask_libraries(file.path, questions_.where)(functions);
      if (std::exchange(any, true)) {
        std::set<std::string> both;
        std::set_intersection(all.defined.begin(), all.defined.end(), found.defined.begin(),
                              found.defined.end(), std::inserter(both, both.end()));
        all.defined = std::move(both);
      } else {
        all.defined = std::move(found.defined);
      }
      all.not_found.insert(all.not_found.end(), found.not_found.begin(), found.not_found.end());
      all.needs_libcuda |= found.needs_libcuda;
    }
    return all;
  }

  void end(Turn& turn, bool whole) {
    const std::vector<JudgedFile>& judged = judged_[turn.file];
    if (whole && turn.before && judged.size() == 1 && !judged.front().is_linked_member)
      questions_.kept.keep(files_[turn.file].path, *turn.before, question_, judged.front().result);
    turn.turn = KeptTurn();
  }

  const std::vector<InputFile>& files_;
  const FileQuestions& questions_;
  PassedOver& passed_over_;
  std::string question_;  // empty: nothing is kept
  std::vector<std::vector<JudgedFile>> judged_;
};

}  // namespace

void judge_files(const std::vector<InputFile>& files, const FileQuestions& questions,
                 const std::function<void(JudgedFile)>& take, const FilesProgress& progress,
                 PassedOver& passed_over) {
  for (std::vector<JudgedFile>& file : Judging(files, questions, passed_over).judge(progress))
    for (JudgedFile& judged : file) take(std::move(judged));
}

}  // namespace archguard
