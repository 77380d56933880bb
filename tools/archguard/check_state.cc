#include "check_state.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/text_file.h"
#include "base/write_file.h"
#include "kept/fields.h"
#include "kept/identity.h"

namespace archguard {
namespace {

constexpr const char* kStateFormat = "archguard.check-state/2";

struct FileState {
  std::string path, state;
};

template <class A>
void fields(A& archive, FileState& value) {
  auto& [path, state] = value;
  archive(path, state);
}

// A state as it is written, in this order.
struct StateRecord {
  std::string format = kStateFormat;
  std::string library_path;
  std::vector<FileState> files;  // that are looked at, and places where none was
  CheckState check;
};

template <class A>
void fields(A& archive, StateRecord& value) {
  auto& [format, library_path, files, check] = value;
  archive(format, library_path, files, check.question, check.libraries, check.failed, check.complains,
          check.out, check.messages);
}

std::string state_text(const FileIdentity& file) {
  std::string text;
  for (const std::uint64_t number : {file.device, file.inode, file.size})
    text += std::to_string(number) + ' ';
  for (const std::int64_t time : {file.modified, file.changed}) text += std::to_string(time) + ' ';
  return text;
}

std::string state_at(const std::string& path) {
  const auto identity = bare_identity_of(path);
  return identity ? state_text(*identity) : std::string();
}

std::optional<StateRecord> read_record(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return std::nullopt;
  StateRecord record;
  kept::FieldReader reader(*text);
  fields(reader, record);
  if (!reader.ok() || !reader.at_end() || record.format != kStateFormat) return std::nullopt;
  return record;
}

// Where the loader looks first: with another place the same file needs other libraries.
std::string library_path() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path == nullptr ? "" : path;
}

}  // namespace

std::optional<CheckState> read_state(const std::string& path, const std::string& question) {
  auto record = read_record(path);
  if (!record || record->check.question != question || record->library_path != library_path() ||
      !std::all_of(record->files.begin(), record->files.end(),
                   [](const FileState& file) { return state_at(file.path) == file.state; }))
    return std::nullopt;
  return std::move(record->check);
}

FileStates file_states(const std::vector<std::string>& paths) {
  FileStates states;
  for (const std::string& path : paths) states[path] = state_at(path);
  return states;
}

std::int64_t file_time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void write_state(const std::string& path, const CheckState& state, std::int64_t began) {
  StateRecord record;
  record.library_path = library_path();
  record.check = state;
  for (const auto& [file, before] : state.files) {
    if (before.empty() || state_at(file) != before) return;
    record.files.push_back({file, before});
  }
  for (const std::string& file : state.libraries) {
    const auto identity = bare_identity_of(file);
    if (!identity || identity->changed > began) return;
    record.files.push_back({file, state_text(*identity)});
  }
  for (const std::string& place : state.places) {
    const auto identity = bare_identity_of(place);
    if (identity && identity->changed > began) return;
    record.files.push_back({place, identity ? state_text(*identity) : std::string()});
  }
  kept::FieldWriter writer;
  fields(writer, record);
  (void)write_file(path, writer.take());
}

void add_inputs(const VerifyOptions& options, std::vector<std::string>& files) {
  files.insert(files.end(), options.fleets.begin(), options.fleets.end());
  for (const std::string& path : {options.excluded, options.waivers, std::string("/proc/self/exe")})
    if (!path.empty()) files.push_back(path);
}

bool ChangedFiles::has_changed(const std::string& state) {
  std::error_code error;
  if (!std::filesystem::exists(state, error)) return false;
  const auto record = read_record(state);
  if (!record || record->library_path != library_path()) return true;
  return std::any_of(record->files.begin(), record->files.end(), [&](const FileState& file) {
    const auto [now, is_new] = now_.try_emplace(file.path);
    if (is_new) now->second = state_at(file.path);
    return now->second != file.state;
  });
}

}  // namespace archguard
