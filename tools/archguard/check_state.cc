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

constexpr const char* kStateFormat = "archguard.check-state/3";

}  // namespace

// As they are written, in this order.
template <class A>
void fields(A& archive, FileState& value) {
  auto& [path, state] = value;
  archive(path, state);
}
template <class A>
void fields(A& archive, KeptCheck& value) {
  auto& [holds, library_path, files, check] = value;
  archive(holds, library_path, files, check.question, check.libraries, check.failed, check.complains,
          check.out, check.messages);
}

namespace {

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

// Where the loader looks first: with another place the same file needs other libraries.
std::string library_path() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path == nullptr ? "" : path;
}

}  // namespace

std::vector<KeptCheck> read_kept_checks(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return {};
  std::string format;
  std::vector<KeptCheck> checks;
  kept::FieldReader reader(*text);
  reader(format, checks);
  if (!reader.ok() || !reader.at_end() || format != kStateFormat) return {};
  return checks;
}

void write_kept_checks(const std::string& path, const std::vector<KeptCheck>& checks) {
  std::string format = kStateFormat;
  std::vector<KeptCheck> written = checks;
  kept::FieldWriter writer;
  writer(format, written);
  (void)write_file(path, writer.take());
}

const KeptCheck* find_check(const std::vector<KeptCheck>& checks, const std::string& question) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const KeptCheck& kept) { return kept.check.question == question; });
  if (found == checks.end() || !found->holds || found->library_path != library_path()) return nullptr;
  const bool same = std::all_of(found->files.begin(), found->files.end(),
                                [](const FileState& file) { return state_at(file.path) == file.state; });
  return same ? &*found : nullptr;
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

KeptCheck keep_check(CheckState check, std::int64_t began, bool tried_whole) {
  KeptCheck kept;
  kept.check = std::move(check);
  if (!tried_whole) return kept;
  kept.library_path = library_path();
  for (const auto& [file, before] : kept.check.files) {
    if (before.empty() || state_at(file) != before) return kept;
    kept.files.push_back({file, before});
  }
  for (const std::string& file : kept.check.libraries) {
    const auto identity = bare_identity_of(file);
    if (!identity || identity->changed > began) return kept;
    kept.files.push_back({file, state_text(*identity)});
  }
  for (const std::string& place : kept.check.places) {
    const auto identity = bare_identity_of(place);
    if (identity && identity->changed > began) return kept;
    kept.files.push_back({place, identity ? state_text(*identity) : std::string()});
  }
  kept.holds = true;
  return kept;
}

void add_inputs(const VerifyOptions& options, std::vector<std::string>& files) {
  files.insert(files.end(), options.fleets.begin(), options.fleets.end());
  for (const std::string& path : {options.excluded, options.waivers, std::string("/proc/self/exe")})
    if (!path.empty()) files.push_back(path);
}

bool ChangedFiles::has_changed(const std::string& kept) {
  std::error_code error;
  if (!std::filesystem::exists(kept, error)) return false;
  const std::vector<KeptCheck> checks = read_kept_checks(kept);
  const auto is_same = [&](const FileState& file) {
    const auto [now, is_new] = now_.try_emplace(file.path);
    if (is_new) now->second = state_at(file.path);
    return now->second == file.state;
  };
  return checks.empty() || !std::all_of(checks.begin(), checks.end(), [&](const KeptCheck& check) {
           return check.holds && check.library_path == library_path() &&
                  std::all_of(check.files.begin(), check.files.end(), is_same);
         });
}

}  // namespace archguard
