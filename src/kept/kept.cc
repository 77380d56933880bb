#include "kept/kept.h"

#include "base/write_file.h"
#include "kept/fields.h"
#include "kept/file_result_record.h"

namespace archguard {
namespace {

// A text behind its size, so that where one ends and the next begins is told.
std::string joined(std::string one, std::string two, std::string three) {
  kept::FieldWriter writer;
  writer(one, two, three);
  return writer.take();
}

std::uint64_t key_of(const std::string& path, const std::string& real_path, const std::string& question) {
  return hash_of(joined(path, real_path, question));
}

}  // namespace

KeptVerdicts::KeptVerdicts(const std::vector<std::string>& folders, KeptFolder::Limits limits) {
  for (const std::string& folder : folders)
    if (!folder.empty()) folders_.emplace_back(folder + "/verdicts", limits);
}

std::optional<FileResult> KeptVerdicts::find(const std::string& path, const std::string& question) const {
  if (!keeps()) return std::nullopt;
  const auto identity = identity_of(path);
  if (!identity) return std::nullopt;
  const std::uint64_t key = key_of(path, identity->real_path, question);
  for (const KeptFolder& folder : folders_) {
    const auto content = folder.read(key);
    if (!content) continue;
    FileIdentity of;
    std::string asked_path, asked, result;
    kept::FieldReader reader(*content);
    reader(of, asked_path, asked, result);
    if (!reader.ok() || !reader.at_end() || of != *identity || asked_path != path || asked != question)
      continue;
    if (auto found = decode_file_result(result)) return found;
  }
  return std::nullopt;
}

void KeptVerdicts::keep(const std::string& path, const FileIdentity& before, const std::string& question,
                        const FileResult& result) const {
  if (!keeps() || !result.errors.empty() || !is_settled(before)) return;
  const auto after = identity_of(path);
  if (!after || *after != before) return;
  FileIdentity of = before;
  std::string asked_path = path, asked = question, bytes = encode(of_file_alone(result));
  kept::FieldWriter writer;
  writer(of, asked_path, asked, bytes);
  const std::string content = writer.take();
  for (const KeptFolder& folder : folders_) folder.write(key_of(path, before.real_path, question), content);
}

std::optional<KeptTurn> KeptVerdicts::try_turn(const std::string& path, const std::string& question) const {
  if (!keeps()) return KeptTurn();
  return folders_.front().turn(key_of(path, real_path(path), question), {});
}

KeptTurn KeptVerdicts::wait_turn(const std::string& path, const std::string& question,
                                 std::chrono::milliseconds patience) const {
  if (!keeps()) return {};
  auto turn = folders_.front().turn(key_of(path, real_path(path), question), patience);
  return turn ? std::move(*turn) : KeptTurn();
}

}  // namespace archguard
