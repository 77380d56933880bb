#include "check_target.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/write_file.h"
#include "check_state.h"
#include "commands.h"
#include "coverage/verification.h"
#include "host/archive.h"
#include "report/verify_json.h"
#include "report_files.h"
#include "select/select.h"
#include "target_parameters.h"
#include "terminal.h"

namespace archguard {
namespace {

namespace fs = std::filesystem;

// Is it what a CUDA compiler made? `object` is named as in messages: "app.dir/main.cpp.o",
// "libapp.a(main.cpp.o)". Build tools may put the suffix of objects behind a source's name, or in the place
// of its own.
bool is_cuda_object(const TargetParameters& target, const std::string& object) {
  std::string name = object.substr(object.find_last_of("/(") + 1);
  if (ends_with(name, ")")) name.pop_back();
  name = fs::path(name).stem().string();
  return ends_with(name, ".cu") ||
         std::any_of(target.cuda_sources.begin(), target.cuda_sources.end(), [&](const std::string& source) {
           return name == source || name == fs::path(source).stem().string();
         });
}

// Did a linker make its file? Else it is an archive, or the objects themselves.
bool is_linked(const TargetParameters& target) {
  if (target.files.size() != 1 || target.files == target.objects) return false;
  const auto file = FileSource::open(target.files.front());
  if (!file) return false;
  const auto start = read_bytes(*file, 0, std::min<std::uint64_t>(file->size(), 8));
  return start && !has_archive_magic(*start);
}

// Makes the check of one target, and collects what is to be said of it.
class Check {
 public:
  explicit Check(const TargetParameters& target) : target_(target) {}

  // An error where a question cannot be asked: a fleet that is none.
  Status run();

  CheckState& state() { return state_; }
  Verification& report() { return report_; }

 private:
  struct Asked {
    Outcome outcome = Outcome::no_device_code;
    std::string text;
    Verification verification;
  };

  Result<Asked> ask(VerifyOptions options, const std::vector<std::string>& paths);
  Status ask_all();
  Status ask_devices();
  Status ask_expected();
  Status ask_needed();
  void take_devices(const Verification& verification);
  void take_failures(const Verification& objects);
  // Does any of the files hold device code at all? What cannot be read whole may hold some.
  Result<bool> hold_code(const std::vector<std::string>& paths);

  void complain(Severity severity, const std::string& text);
  void say(const char* kind, const std::string& text);

  const TargetParameters& target_;
  bool has_code_ = false, libraries_have_code_ = false;
  bool is_judged_ = true;             // the target's own file
  bool passes_cuda_bitcode_ = false;  // of what the linker made of it was judged
  std::set<std::string> bitcode_;     // objects that were passed over
  CheckState state_;
  Verification report_;
};

void Check::say(const char* kind, const std::string& text) {
  const std::string line =
      printable("archguard: " + std::string(kind) + ": target '" + target_.target + "' " + text) + "\n";
  if (state_.messages.find(line) == std::string::npos) state_.messages += line;
}

void Check::complain(Severity severity, const std::string& text) {
  if (severity == Severity::off) return;
  say(severity == Severity::error ? "error" : "warning", text);
  state_.failed |= severity == Severity::error;
  state_.complains = true;
}

Result<Check::Asked> Check::ask(VerifyOptions options, const std::vector<std::string>& paths) {
  Asked asked;
  if (paths.empty()) return asked;
  options.paths = paths;
  options.report.brief = true;
  options.passes_bitcode = [&](const std::string& object) {
    const bool passes = passes_cuda_bitcode_ || !is_cuda_object(target_, object);
    if (passes) bitcode_.insert(object);
    return passes;
  };
  ARCHGUARD_TRY(verification, verification_of(options));
  asked.outcome = outcome_of(verification);
  asked.text = verification_text(verification, options);
  asked.verification = std::move(verification);
  return asked;
}

Result<bool> Check::hold_code(const std::vector<std::string>& paths) {
  VerifyOptions options;
  options.expect = "50";  // any: whether it is there is not looked at
  ARCHGUARD_TRY(asked, ask(options, paths));
  return asked.outcome != Outcome::no_device_code;
}

Status Check::ask_devices() {
  ARCHGUARD_TRY(asked, ask(target_.verify, target_.files));
  report_ = std::move(asked.verification);
  if (asked.outcome == Outcome::no_device_code) {
    ARCHGUARD_TRY(objects_hold_code, hold_code(target_.objects));
    has_code_ = objects_hold_code;
    if (!has_code_) return Done{};
    ARCHGUARD_TRY(objects, ask(target_.verify, target_.objects));
    if (objects.outcome != Outcome::no_device_code) {
      state_.out += asked.text;
      complain(target_.device_severity, "has objects with kernels, and none in its file");
    } else {
      say("note", "holds device code without a kernel or a variable that host code can name");
    }
    return Done{};
  }
  has_code_ = true;
  state_.out += asked.text;
  if (asked.outcome == Outcome::not_covered) complain(target_.device_severity, "does not cover every device");
  if (asked.outcome == Outcome::unknown) {
    complain(target_.device_severity, "could not be judged");
    is_judged_ = false;
  }
  return Done{};
}

void Check::take_devices(const Verification& verification) {
  report_.devices = verification.devices;
  report_.classes = verification.classes;
  report_.excluded = verification.excluded;
}

// What objects lack, or what of them cannot be read, is a failure of the file that is made of them.
void Check::take_failures(const Verification& objects) {
  if (report_.files.empty()) return;
  FileResult& file = report_.files.front();
  for (const FileResult& object : objects.files) {
    const auto& lacking = object.expect.failures;
    file.expect.failures.insert(file.expect.failures.end(), lacking.begin(), lacking.end());
    file.errors.insert(file.errors.end(), object.errors.begin(), object.errors.end());
  }
}

// Do the objects hold what CUDA_ARCHITECTURES asks for?
Status Check::ask_expected() {
  std::string list, unknown;
  for (const std::string_view word : split(target_.architectures, ';')) {
    const auto known = target_.words.find(std::string(word));
    const std::string meant = known == target_.words.end() ? std::string(word) : known->second;
    if (!word.empty() && (meant.empty() || !parse_arch_list(meant)))
      unknown += (unknown.empty() ? "" : ", ") + std::string(word);
    list += meant + ";";
  }
  if (!unknown.empty()) {
    complain(target_.severity,
             "asks for '" + unknown + "' in CUDA_ARCHITECTURES, and what that stands for here is not known");
    state_.messages +=
        "  fix: name the architectures (80-real;90-virtual), or let ArchGuard choose: cmake "
        "-U CMAKE_CUDA_ARCHITECTURES -U ARCHGUARD_CHOICE <build folder>\n";
    return Done{};
  }
  if (list.find_first_not_of(';') == std::string::npos) {
    if (!target_.has_devices)
      say("note", "is not checked: no devices are known, and its CUDA_ARCHITECTURES asks for nothing");
    return Done{};
  }
  if (target_.objects.empty()) return Done{};  // those of another target, compiled for a list of its own
  VerifyOptions options;
  options.expect = list;
  options.embedded = "off";  // what an object holds as data was not compiled for this target's list
  options.target = target_.verify.target;
  passes_cuda_bitcode_ = target_.has_devices && !target_.together && is_linked(target_);
  ARCHGUARD_TRY(asked, ask(options, target_.objects));
  take_failures(asked.verification);
  const auto is_whole = [](const FileResult& file) { return file.errors.empty(); };
  if (expects_of_data_alone(asked.verification) &&
      std::all_of(asked.verification.files.begin(), asked.verification.files.end(), is_whole))
    return Done{};
  if (asked.outcome == Outcome::not_covered || asked.outcome == Outcome::unknown) state_.out += asked.text;
  if (asked.outcome == Outcome::not_covered)
    complain(target_.severity, "lacks code that its CUDA_ARCHITECTURES asks for");
  if (asked.outcome == Outcome::unknown) complain(target_.severity, "could not be judged");
  if (asked.outcome == Outcome::covered && !target_.has_devices)
    state_.out +=
        printable("archguard: target '" + target_.target + "' holds what its CUDA_ARCHITECTURES asks for") +
        "\n";
  return Done{};
}

Status Check::ask_needed() {
  ARCHGUARD_TRY(asked, ask(target_.needed_verify, target_.files));
  libraries_have_code_ = asked.outcome != Outcome::no_device_code;
  if (libraries_have_code_) state_.out += asked.text;
  Verification& libraries = asked.verification;
  if (report_.devices.empty()) take_devices(libraries);
  const bool lacking = std::any_of(
      libraries.files.begin(), libraries.files.end(),
      [&](const FileResult& file) { return outcome_of(libraries, file) == Outcome::not_covered; });
  // What is proved of one library does not hang on another that was not found.
  if (lacking) complain(target_.needed, "needs libraries that do not cover every device");
  if (asked.outcome == Outcome::unknown) {
    const bool any_code = std::any_of(libraries.files.begin(), libraries.files.end(),
                                      [](const FileResult& file) { return file.has_code; });
    // A target that was found by ALL, without code in itself or a library, is most likely no program for a
    // GPU.
    const bool is_likely_none =
        !has_code_ && !any_code && !target_.named && target_.needed == Severity::error;
    complain(is_likely_none ? Severity::warn : target_.needed,
             "needs libraries that could not be judged (NEEDED warn lets the build go on)");
  }
  std::move(libraries.files.begin(), libraries.files.end(), std::back_inserter(report_.files));
  report_.needed = std::move(libraries.needed);
  return Done{};
}

Status Check::run() {
  ARCHGUARD_CHECK(ask_all());
  if (bitcode_.empty() || (!has_code_ && target_.cuda_sources.empty())) return Done{};
  constexpr std::size_t kShown = 3;
  std::vector<std::string> names(bitcode_.begin(), bitcode_.end());
  const bool any_more = names.size() > kShown;
  if (any_more) names.resize(kShown);
  say("note", "has " + count_of(bitcode_.size(), "object") +
                  " of LLVM bitcode or MSVC's /GL, passed over, since " +
                  (passes_cuda_bitcode_ ? "the file that they are linked into was judged ("
                                        : "no CUDA source was compiled to them (") +
                  join(names, ", ") + (any_more ? ", …)" : ")"));
  return Done{};
}

Status Check::ask_all() {
  if (target_.has_devices && !target_.together) {
    ARCHGUARD_CHECK(ask_devices());
  } else {
    ARCHGUARD_TRY(found, hold_code(target_.objects.empty() ? target_.files : target_.objects));
    has_code_ = found;
  }
  if (has_code_) ARCHGUARD_CHECK(ask_expected());
  if (target_.needed != Severity::off && is_judged_) ARCHGUARD_CHECK(ask_needed());  // one thing at a time
  if (has_code_ || libraries_have_code_) return Done{};
  if (target_.named)
    complain(target_.severity, "has no device code: leave it out of TARGETS, or give it CUDA sources");
  if (!target_.named && !target_.cuda_sources.empty()) say("note", "has no device code");
  return Done{};
}

// A folder that may not be read, or a link that leads to itself, is an error.
Result<bool> is_on_disk(const std::string& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (error) return Error{path, "cannot be looked at: " + error.message(), {}};
  return there;
}

Status are_built(const TargetParameters& target) {
  for (const auto* paths : {&target.files, &target.objects})
    for (const std::string& path : *paths) {
      ARCHGUARD_TRY(there, is_on_disk(path));
      if (!there)
        return Error{"target '" + target.target + "'", "is not built: " + path + " is missing",
                     "build it first"};
    }
  return Done{};
}

std::string question_of(const TargetParameters& target) {
  return target.text + "archguard " ARCHGUARD_VERSION;
}

std::vector<std::string> files_of(const TargetParameters& target) {
  std::vector<std::string> files = target.files;
  files.insert(files.end(), target.objects.begin(), target.objects.end());
  add_inputs(target.verify, files);
  return files;
}

// For make and ninja: the libraries that only the check finds. CMake 3.20 reads no depfile that names
// nothing, so that `built`, which the rule names as well, comes first.
Status write_depfile(const std::string& stamp, const std::string& built,
                     const std::set<std::string>& libraries) {
  const auto escaped = [](const std::string& path) {
    std::string text;
    for (const char c : path) {
      if (c == ' ' || c == '#') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
    return text;
  };
  std::string text = escaped(stamp) + ": " + escaped(built);
  for (const std::string& path : libraries) text += " \\\n  " + escaped(path);
  return write_file(stamp + ".d", text + "\n");
}

struct Answer {
  KeptCheck kept;
  bool is_new = false;
};

Status write_check(const Verification& found, const std::string& report, const std::string& attached) {
  if (!report.empty()) ARCHGUARD_CHECK(write_file(report, VerifyJson(found, with_record({}, found))));
  return attached.empty() ? Status(Done{}) : attach_page(attached, found);
}

// The answer of an earlier check where it holds, else that of a new one.
Result<Answer> answer(const TargetParameters& target, const std::vector<KeptCheck>& earlier,
                      const std::string& report, const std::string& attached) {
  const std::int64_t began = file_time_now();
  const std::string question = question_of(target);
  if (const KeptCheck* kept = find_check(earlier, question)) return Answer{*kept, false};
  FileStates files = file_states(files_of(target));
  Check check(target);
  ARCHGUARD_CHECK(check.run());
  CheckState state = std::move(check.state());
  state.question = question;
  state.files = std::move(files);
  for (const FileResult& file : check.report().files)
    if (!file.needed_by.empty()) state.libraries.push_back(file.path);
  ARCHGUARD_CHECK(write_check(check.report(), report, attached));
  const auto& needed = check.report().needed;
  if (needed) state.places = needed->tried;
  return Answer{keep_check(std::move(state), began, !needed || needed->tried_whole), true};
}

// A machine that builds for others: nobody runs the program there, and nobody reads what a build that ends
// well says.
bool is_continuous_integration() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && !is_cmake_false(ci);
}

}  // namespace

Result<Verification> find_of_target(const TargetParameters& target) {
  Check check(target);
  ARCHGUARD_CHECK(check.run());
  Verification found = std::move(check.report());
  const Outcome outcome = outcome_of(found);
  const bool is_told = outcome == Outcome::not_covered || outcome == Outcome::unknown;
  if (check.state().failed && !is_told) {
    if (!found.needed) found.needed.emplace();
    found.needed->errors.push_back({"target '" + target.target + "'", "fails its check",
                                    "build the target archguard_verify to read why"});
  }
  return found;
}

Result<int> run_check_target(const CheckTargetOptions& options) {
  if (!options.stamp.empty()) std::remove(options.stamp.c_str());
  ARCHGUARD_TRY(targets, read_target_parameters(options.parameters, options.built));
  const bool is_group = targets.size() > 1;
  std::vector<KeptCheck> earlier, checks;
  if (!options.state.empty()) {
    earlier = read_kept_checks(options.state);
    std::remove(options.state.c_str());  // where this check cannot be made, none was
  }
  if (!options.report_folder.empty()) {
    std::error_code error;
    fs::create_directories(options.report_folder, error);
  }
  std::set<std::string> libraries;
  bool failed = false;
  for (const TargetParameters& target : targets) {
    if (!options.only.empty() && target.target != options.only) continue;
    ARCHGUARD_CHECK(are_built(target));
    const std::string report = options.report_folder.empty()
                                   ? options.report_json
                                   : options.report_folder + "/" + target.target + ".json";
    ARCHGUARD_TRY(answered, answer(target, earlier, report, options.attach));
    const CheckState& state = answered.kept.check;
    // Of many, those that are as they were are not told of again, unless they fail.
    const bool is_told = options.post_build ? state.complains : !is_group || answered.is_new || state.failed;
    if (is_told) {
      print(state.out);
      ARCHGUARD_CHECK(finish_printing());
      print_messages(state.messages);
    }
    failed |= state.failed;
    libraries.insert(state.libraries.begin(), state.libraries.end());
    checks.push_back(std::move(answered.kept));
  }
  if (checks.empty()) return Error{options.built, "has no target '" + options.only + "'", {}};
  if (!options.state.empty()) write_kept_checks(options.state, checks);
  if (!options.stamp.empty()) {
    ARCHGUARD_CHECK(write_depfile(options.stamp, options.built, libraries));
    if (!failed) ARCHGUARD_CHECK(write_file(options.stamp, ""));
  }
  if (!failed) return kExitCovered;
  if (!options.post_build || options.strict || is_continuous_integration()) return kExitNotCovered;
  const TargetParameters& target = targets.front();
  print_messages("archguard: note: the file of '" + printable(target.target) +
                 "' stays, so that it can be run here; " +
                 (target.is_in_default_build ? "the default build and the target archguard_verify fail\n"
                                             : "the target archguard_verify fails\n"));
  return kExitCovered;
}

Result<int> run_check_changes(const CheckChangesOptions& options) {
  ARCHGUARD_TRY(list, read_text_file(options.list));
  ChangedFiles files;
  for (const std::string_view line : split(list, '\n')) {
    const std::string base(trim(line));
    if (base.empty()) continue;
    const std::string changed = base + ".changed";
    ARCHGUARD_TRY(has_stamp, is_on_disk(base + ".stamp"));
    ARCHGUARD_TRY(has_state, is_on_disk(base + ".state"));
    ARCHGUARD_TRY(is_marked, is_on_disk(changed));
    if (!is_marked || (has_stamp && !has_state) || files.has_changed(base + ".state"))
      ARCHGUARD_CHECK(write_file(changed, ""));
  }
  return kExitCovered;
}

}  // namespace archguard
