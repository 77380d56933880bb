#include "result/verification_record.h"

#include <utility>

#include "base/text.h"
#include "kept/fields.h"
#include "kept/kept_folder.h"
#include "result/base64.h"

namespace archguard {
namespace {

// What devices of a kind share; kept::fields(Device) has what a question holds of them.
struct WholeKind {
  std::optional<ComputeCapability> capability;
  std::optional<Version> driver_cuda;
  bool cuda_by_branch = false, cuda_at_least = false, visible = true, mig = false;
  std::string excluded, origin;
  std::vector<std::string> source;  // a field and where it is from, in turn
};

struct WholeUnread {
  std::string path;
  int kind = 0;
};

struct WholeVerification {
  std::vector<WholeKind> kinds;
  std::vector<ExcludedDevice> excluded;
  std::vector<std::string> globs;
  std::vector<UnusedWaiver> unused_waivers;
  std::vector<WholeUnread> passed_over;
  std::optional<NeededOutcome> needed;
  std::vector<Error> owner_errors;
  std::vector<std::string> looked_in;
  std::string asked;
  bool expects = false, hint_scope = false;
};

constexpr int kMostUnreadKind = static_cast<int>(UnreadKind::no_file);

}  // namespace

// As kept/fields.h has it: a field that comes to one of the structs has to come here, or this does not
// compile.
namespace kept {

template <class A>
void fields(A& archive, WholeKind& value) {
  auto& [capability, driver_cuda, by_branch, at_least, visible, mig, excluded, origin, source] = value;
  archive(capability, driver_cuda, by_branch, at_least, visible, mig, excluded, origin, source);
}
template <class A>
void fields(A& archive, WholeUnread& value) {
  auto& [path, kind] = value;
  archive(path, kind);
}
template <class A>
void fields(A& archive, ExcludedDevice& value) {
  auto& [name, capability, reason, first, last, uuid, driver_cuda, count] = value;
  archive(name, capability, reason, first, last, uuid, driver_cuda, count);
}
template <class A>
void fields(A& archive, Waiver& value) {
  auto& [kernel, compute_cap, reason, origin] = value;
  archive(kernel, compute_cap, reason, origin);
}
template <class A>
void fields(A& archive, UnusedWaiver& value) {
  auto& [waiver, kernel_read] = value;
  archive(waiver, kernel_read);
}
template <class A>
void fields(A& archive, NeededOutcome& value) {
  auto& [passed_over, errors, tried, tried_whole] = value;
  archive(passed_over, errors, tried, tried_whole);
}
template <class A>
void fields(A& archive, WholeVerification& value) {
  auto& [kinds, excluded, globs, unused_waivers, passed_over, needed, owner_errors, looked_in, asked, expects,
         hint_scope] = value;
  archive(kinds, excluded, globs, unused_waivers, passed_over, needed, owner_errors, looked_in, asked,
          expects, hint_scope);
}

}  // namespace kept

namespace {

WholeKind whole_of(const Device& device) {
  // Each member of a Device is here or in the JSON: a new one does not compile.
  auto [name, capability, driver_version, driver_cuda, by_branch, at_least, uuid, pci, visible, mig, excluded,
        count, host, source, extra, origin] = device;
  WholeKind whole{capability, driver_cuda, by_branch, at_least, visible, mig, excluded, origin, {}};
  for (const auto& [field, from] : source) {
    whole.source.push_back(field);
    whole.source.push_back(from);
  }
  return whole;
}

Device device_of(const WholeKind& whole) {
  Device device;
  device.capability = whole.capability;
  device.driver_cuda = whole.driver_cuda;
  device.cuda_by_branch = whole.cuda_by_branch;
  device.cuda_at_least = whole.cuda_at_least;
  device.visible = whole.visible;
  device.mig = whole.mig;
  device.excluded = whole.excluded;
  device.origin = whole.origin;
  for (std::size_t i = 0; i + 1 < whole.source.size(); i += 2)
    device.source[whole.source[i]] = whole.source[i + 1];
  return device;
}

constexpr std::size_t kSealSize = 8;

// Of bytes that a copy or a disk changed; nobody is kept from making another.
std::string seal_of(std::string_view bytes) {
  std::string seal;
  for (std::uint64_t hash = hash_of(bytes); seal.size() < kSealSize; hash >>= 8U)
    seal += static_cast<char>(hash & 255U);
  return seal;
}

template <class Value>
std::string write_fields(Value& value) {
  kept::FieldWriter writer;
  writer(value);
  const std::string bytes = writer.take();
  return to_base64(bytes + seal_of(bytes));
}

template <class Value>
std::optional<Value> read_fields(std::string_view record) {
  const auto sealed = from_base64(record);
  if (!sealed || sealed->size() < kSealSize) return std::nullopt;
  const std::string_view bytes = std::string_view(*sealed).substr(0, sealed->size() - kSealSize);
  if (seal_of(bytes) != sealed->substr(bytes.size())) return std::nullopt;
  kept::FieldReader reader(bytes);
  Value value;
  reader(value);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return value;
}

constexpr std::string_view kRecordMark = "archguard.record/1 ";

}  // namespace

std::string record_of(const Verification& verification, const std::string& version, bool hint_scope) {
  WholeVerification whole;
  for (const Device& kind : verification.devices.kinds()) whole.kinds.push_back(whole_of(kind));
  whole.excluded = verification.excluded;
  for (const AnyOf& group : verification.any_of)
    if (group.place == 0) whole.globs.push_back(group.glob);
  whole.unused_waivers = verification.unused_waivers;
  for (const auto& [path, kind] : verification.passed_over)
    whole.passed_over.push_back({path, static_cast<int>(kind)});
  whole.needed = verification.needed;
  if (whole.needed) whole.needed->tried.clear();  // of checks in a build tree alone
  whole.owner_errors = verification.owner_errors;
  whole.looked_in = verification.looked_in;
  whole.asked = verification.asked;
  whole.expects = verification.expects;
  whole.hint_scope = hint_scope;
  return std::string(kRecordMark) + version + " " + write_fields(whole);
}

std::string record_of_file(const FileResult& file) {
  FileResult alone = file;
  forget_alternatives(alone);
  return write_fields(alone);
}

std::string version_of_record(std::string_view record) {
  if (!starts_with(record, kRecordMark)) return {};
  record.remove_prefix(kRecordMark.size());
  return std::string(record.substr(0, record.find(' ')));
}

std::optional<ReadRecord> read_record(std::string_view record) {
  const std::size_t begin = kRecordMark.size() + version_of_record(record).size() + 1;
  if (!starts_with(record, kRecordMark) || begin > record.size()) return std::nullopt;
  auto whole = read_fields<WholeVerification>(record.substr(begin));
  if (!whole) return std::nullopt;
  ReadRecord read;
  for (const WholeKind& kind : whole->kinds) read.kinds.push_back(device_of(kind));
  read.globs = std::move(whole->globs);
  read.verification.excluded = std::move(whole->excluded);
  read.verification.unused_waivers = std::move(whole->unused_waivers);
  for (auto& [path, kind] : whole->passed_over) {
    if (kind < 0 || kind > kMostUnreadKind) return std::nullopt;
    read.verification.passed_over.push_back({std::move(path), static_cast<UnreadKind>(kind)});
  }
  read.verification.needed = std::move(whole->needed);
  read.verification.owner_errors = std::move(whole->owner_errors);
  read.verification.looked_in = std::move(whole->looked_in);
  read.verification.asked = std::move(whole->asked);
  read.verification.expects = whole->expects;
  read.hint_scope = whole->hint_scope;
  return read;
}

std::optional<FileResult> read_file_record(std::string_view record) {
  auto file = read_fields<FileResult>(record);
  if (!file || !file->any_of.empty() || !file->libraries.empty() || file->alternative) return std::nullopt;
  return file;
}

}  // namespace archguard
