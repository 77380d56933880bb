#include "check_state.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "base/write_file.h"
#include "kept/identity.h"

namespace archguard {
namespace {

using StateJson = nlohmann::json;

constexpr const char* kStateSchema = "archguard.check-state/1";

// Differs where the file does.
std::string state_text(const FileIdentity& file) {
  std::string text = file.real_path;
  for (const std::uint64_t number : {file.device, file.inode, file.size})
    text += ' ' + std::to_string(number);
  for (const std::int64_t time : {file.modified, file.changed}) text += ' ' + std::to_string(time);
  return text;
}

std::string state_text(const StateJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

StateJson read_json(const std::string& path) {
  const auto text = read_text_file(path);
  StateJson document = text ? StateJson::parse(*text, nullptr, false) : StateJson();
  const bool whole = document.is_object() && state_text(document, "schema") == kStateSchema &&
                     document.contains("files") && document["files"].is_object();
  return whole ? document : StateJson();
}

// Where the loader looks first: with another place the same file needs other libraries.
std::string library_path() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path == nullptr ? "" : path;
}

// Empty where no file is.
std::string state_at(const std::string& path) {
  const auto identity = identity_of(path);
  return identity ? state_text(*identity) : std::string();
}

bool same_files(const StateJson& files) {
  const auto all = files.items();
  return std::all_of(all.begin(), all.end(), [](const auto& file) {
    return file.value().is_string() && state_at(file.key()) == file.value().template get<std::string>();
  });
}

}  // namespace

std::optional<CheckState> read_state(const std::string& path, const std::string& question) {
  const StateJson document = read_json(path);
  if (document.is_null() || state_text(document, "question") != question ||
      state_text(document, "library_path") != library_path() || !same_files(document["files"]))
    return std::nullopt;
  CheckState state;
  state.failed = document.value("failed", true);
  state.complains = document.value("complains", true);
  for (const StateJson& library : document.value("libraries", StateJson::array()))
    if (library.is_string()) state.libraries.push_back(library.get<std::string>());
  state.out = state_text(document, "out");
  state.messages = state_text(document, "messages");
  return state;
}

FileStates file_states(const std::vector<std::string>& paths) {
  FileStates states;
  for (const std::string& path : paths)
    if (const auto identity = identity_of(path)) states[path] = state_text(*identity);
  return states;
}

std::int64_t file_time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void write_state(const std::string& path, const CheckState& state, std::int64_t began) {
  StateJson files = StateJson::object();
  for (const auto& [file, before] : state.files) {
    const auto identity = identity_of(file);
    if (!identity || state_text(*identity) != before) return;
    files[file] = before;
  }
  for (const std::string& file : state.libraries) {
    const auto identity = identity_of(file);
    if (!identity || identity->changed > began) return;
    files[file] = state_text(*identity);
  }
  for (const std::string& place : state.places) {
    const auto identity = identity_of(place);
    if (identity && identity->changed > began) return;
    files[place] = identity ? state_text(*identity) : std::string();
  }
  const StateJson document{{"schema", kStateSchema},         {"question", state.question},
                           {"library_path", library_path()}, {"files", files},
                           {"libraries", state.libraries},   {"failed", state.failed},
                           {"complains", state.complains},   {"out", state.out},
                           {"messages", state.messages}};
  (void)write_file(path, document.dump(-1, ' ', false, StateJson::error_handler_t::replace));
}

void add_inputs(const VerifyOptions& options, std::vector<std::string>& files) {
  files.insert(files.end(), options.fleets.begin(), options.fleets.end());
  for (const std::string& path : {options.excluded, options.waivers, std::string("/proc/self/exe")})
    if (!path.empty()) files.push_back(path);
}

bool has_changed(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  const StateJson document = read_json(path);
  return document.is_null() || state_text(document, "library_path") != library_path() ||
         !same_files(document["files"]);
}

}  // namespace archguard
