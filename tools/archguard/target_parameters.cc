#include "target_parameters.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/text.h"
#include "base/text_file.h"

namespace archguard {
namespace {

using ParametersJson = nlohmann::json;

constexpr const char* kTarget = "archguard.check/2";
constexpr const char* kFiles = "archguard.check-files/1";
constexpr const char* kParametersFix = "configure again: cmake <build folder>";

// Reads the members of an object, and remembers the first that is not as expected: these files are written by
// the CMake package, and one of another version must not pass for a question that was not asked.
class Members {
 public:
  Members(const ParametersJson& object, std::string& wrong) : object_(object), wrong_(wrong) {
    if (!object.is_object()) wrong_ = "is no JSON object";
  }

  void schema(const std::string& expected) {
    std::string found;
    text("schema", found);
    if (found != expected && wrong_.empty()) wrong_ = "is no " + expected;
  }
  void text(const char* key, std::string& value) {
    if (const ParametersJson* found = take(key); found != nullptr && expect(found->is_string(), key))
      value = found->get<std::string>();
  }
  void flag(const char* key, bool& value) {
    if (const ParametersJson* found = take(key); found != nullptr && expect(found->is_boolean(), key))
      value = found->get<bool>();
  }
  void texts(const char* key, std::vector<std::string>& values) {
    const ParametersJson* found = take(key);
    if (found == nullptr || !expect(found->is_array(), key)) return;
    for (const ParametersJson& each : *found)
      if (expect(each.is_string(), key)) values.push_back(each.get<std::string>());
  }
  void severity(const char* key, Severity& value) {
    std::string word;
    text(key, word);
    if (word.empty()) return;
    if (expect(word == "error" || word == "warn" || word == "off", key))
      value = word == "error" ? Severity::error : word == "warn" ? Severity::warn : Severity::off;
  }
  const ParametersJson* member(const char* key) { return take(key); }

  // What nobody asked for.
  void finish() {
    if (!object_.is_object()) return;
    for (const auto& member : object_.items())
      if (std::find(taken_.begin(), taken_.end(), member.key()) == taken_.end())
        expect(false, member.key().c_str());
  }

 private:
  const ParametersJson* take(const char* key) {
    taken_.emplace_back(key);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  bool expect(bool true_, const char* key) {
    if (!true_ && wrong_.empty()) wrong_ = "has a member '" + std::string(key) + "' that is not understood";
    return true_;
  }

  const ParametersJson& object_;
  std::string& wrong_;
  std::vector<std::string> taken_;
};

void read_verify(const ParametersJson* object, VerifyOptions& options, std::string& wrong) {
  if (object == nullptr) return;
  Members members(*object, wrong);
  members.texts("fleets", options.fleets);
  members.text("excluded", options.excluded);
  members.text("scope", options.scope);
  members.text("require", options.require);
  members.flag("require_ptx", options.require_ptx);
  members.text("hollow", options.hollow);
  members.text("driver", options.driver);
  members.text("partly", options.partly);
  members.text("embedded", options.embedded);
  members.texts("any_of", options.any_of);
  members.text("waivers", options.waivers);
  members.texts("cache", options.cache);
  members.text("sysroot", options.where.sysroot);
  members.texts("rpath_link", options.where.rpath_link);
  members.finish();
}

void read_parameters(const ParametersJson& document, TargetParameters& target, std::string& folder,
                     std::string& wrong) {
  Members members(document, wrong);
  members.schema(kTarget);
  members.text("folder", folder);
  members.flag("named", target.named);
  members.flag("devices", target.has_devices);
  members.flag("together", target.together);
  members.severity("severity", target.severity);
  members.severity("device_severity", target.device_severity);
  members.severity("needed", target.needed);
  read_verify(members.member("verify"), target.verify, wrong);
  read_verify(members.member("verify_needed"), target.needed_verify, wrong);
  members.finish();
}

// What is known of one target: "file <path>" and so on, a line each; a value is all behind the first blank.
Status read_lines(std::string_view text, const std::string& path, TargetParameters& target) {
  bool one_kind = false, linked = false;
  for (std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string key(line.substr(0, line.find(' ')));
    const std::string value(line.size() > key.size() ? line.substr(key.size() + 1) : "");
    if (value.empty()) continue;  // a target without objects of its own
    if (key == "target") {
      target.target = value;
    } else if (key == "linked") {
      linked = !is_cmake_false(value);
    } else if (key == "cuda-source") {
      target.cuda_sources.push_back(value);
    } else if (key == "linked-cuda") {  // a library in CUDA that is compiled for a list of its own
      target.verify.linked_cuda.push_back(value);
    } else if (key == "word") {
      const std::size_t end = std::min(value.find(' '), value.size());
      target.words[value.substr(0, end)] = trim(std::string_view(value).substr(end));
    } else if (key == "file") {
      target.files.push_back(value);
    } else if (key == "object") {
      target.objects.push_back(value);
    } else if (key == "rpath-link") {  // of a shared library of the tree that it needs
      target.needed_verify.where.rpath_link.push_back(value);
    } else if (key == "architectures") {
      target.architectures = value;
    } else if (key ==
               "one-kind") {  // it compiles to PTX, to a bare cubin or for OptiX, whatever the list says
      one_kind |= !is_cmake_false(value);
    } else if (key == "excluded") {
      target.is_in_default_build = is_cmake_false(value);
    } else {
      return Error{path, "has a line '" + key + "' that is not understood", {}};
    }
  }
  if (target.target.empty()) return Error{path, "names no target", kParametersFix};
  if (!linked) target.needed = Severity::off;
  // A fix names CUDA_ARCHITECTURES only where that is what chooses.
  if (is_cmake_false(target.architectures)) target.architectures.clear();
  if (!target.architectures.empty()) target.verify.target = target.target;
  if (one_kind) target.architectures.clear();
  return Done{};
}

// The part of each target, which begins with its name.
std::vector<std::string_view> parts_of(std::string_view lines) {
  constexpr std::string_view kBegin = "target ";
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = lines.find('\n'); at != std::string_view::npos; at = lines.find('\n', at + 1)) {
    if (lines.substr(at + 1, kBegin.size()) != kBegin) continue;
    parts.push_back(lines.substr(begin, at + 1 - begin));
    begin = at + 1;
  }
  parts.push_back(lines.substr(begin));
  return parts;
}

// Below the folder the short way, since that is how messages name files.
void shorten(std::vector<std::string>& paths, const std::string& folder) {
  for (std::string& path : paths) {
    path = std::filesystem::path(path).lexically_normal().string();
    if (starts_with(path, folder + "/")) path.erase(0, folder.size() + 1);
  }
}

}  // namespace

bool is_cmake_false(std::string_view value) {
  static constexpr const char* kFalse[] = {"", "0", "off", "no", "false", "n", "ignore", "notfound"};
  const std::string word = to_lower(value);
  return std::find(std::begin(kFalse), std::end(kFalse), word) != std::end(kFalse) ||
         ends_with(word, "-notfound");
}

Result<std::vector<TargetParameters>> read_target_parameters(const std::string& parameters,
                                                             const std::string& built) {
  ARCHGUARD_TRY(json, read_text_file(parameters));
  ARCHGUARD_TRY(lines, read_text_file(built));
  TargetParameters common;
  std::string folder, wrong;
  read_parameters(ParametersJson::parse(json, nullptr, false), common, folder, wrong);
  if (!wrong.empty()) return Error{parameters, wrong, kParametersFix};
  common.needed_verify.needed_only = true;
  std::vector<TargetParameters> targets;
  for (const std::string_view part : parts_of(lines)) {
    TargetParameters& target = targets.emplace_back(common);
    ARCHGUARD_CHECK(read_lines(part, built, target));
    shorten(target.files, folder);
    shorten(target.objects, folder);
    target.text = json + std::string(part);
    target.verify.compiles_cuda = !target.cuda_sources.empty();
    if (const auto word = target.words.find(target.architectures); word != target.words.end())
      std::tie(target.verify.target_word, target.verify.target_spelled) = *word;
  }
  return targets;
}

Result<FilesParameters> read_files_parameters(const std::string& parameters) {
  ARCHGUARD_TRY(json, read_text_file(parameters));
  const ParametersJson document = ParametersJson::parse(json, nullptr, false);
  std::string wrong;
  FilesParameters files;
  Members members(document, wrong);
  members.schema(kFiles);
  members.text("subject", files.subject);
  members.severity("severity", files.severity);
  read_verify(members.member("verify"), files.verify, wrong);
  members.finish();
  if (!wrong.empty()) return Error{parameters, wrong, kParametersFix};
  return files;
}

}  // namespace archguard
