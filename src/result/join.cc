#include "result/join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "host/host_file.h"
#include "kept/file_result_record.h"

namespace archguard {
namespace {

// A device as a part names it.
bool same_device(const Device& a, const Device& b) {
  return a.name == b.name && a.capability == b.capability && a.driver_version == b.driver_version &&
         a.driver_cuda == b.driver_cuda && a.cuda_by_branch == b.cuda_by_branch &&
         a.cuda_at_least == b.cuda_at_least && a.uuid == b.uuid && a.visible == b.visible &&
         a.excluded == b.excluded && a.count == b.count && a.host == b.host;
}

bool same_devices(const DeviceList& a, const DeviceList& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_device(a[i], b[i])) return false;
  return true;
}

bool same_excluded(const std::vector<ExcludedDevice>& a, const std::vector<ExcludedDevice>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.capability == other.capability && one.uuid == other.uuid &&
           one.driver_cuda == other.driver_cuda && one.count == other.count;
  });
}

std::string answer_of(const FileResult& file) {
  return encode(of_file_alone(file));
}

std::string how(const std::string& asked) {
  return asked.empty() ? "without options of policy" : "with " + asked;
}

std::vector<std::string> globs_of_groups(const Verification& verification) {
  std::vector<std::string> globs;
  for (const AnyOf& group : verification.any_of)
    if (group.place == 0) globs.push_back(group.glob);  // it may have groups in more places
  return globs;
}

}  // namespace

Status Join::check_file(const std::string& part, const FileResult& file) const {
  const auto known = index_.find({file.path, file.member});
  if (known == index_.end()) return Done{};
  const FileResult& old = all_.files[known->second];
  const bool one_is_needed = old.needed_by.empty() != file.needed_by.empty();
  if (one_is_needed || answer_of(old) == answer_of(file)) return Done{};
  return Error{part, "disagrees with " + parts_[known->second] + " on " + object_name(file.path, file.member),
               "verify that file again, and leave the older result out"};
}

void Join::add_file(const std::string& part, FileResult file) {
  const auto [known, is_new] = index_.try_emplace({file.path, file.member}, all_.files.size());
  if (is_new) {
    parts_.push_back(part);
    all_.files.push_back(std::move(file));
    return;
  }
  FileResult& old = all_.files[known->second];
  old.named |= file.named;
  // One that is judged as named counts more than what a program needs of it.
  if (old.needed_by.empty() || !file.needed_by.empty()) return;
  old = std::move(file);
  parts_[known->second] = part;
}

Status Join::add(ResultPart& part) {
  Verification& more = part.verification;
  if (first_.empty()) {
    first_ = part.name;
    all_.devices = more.devices;
    all_.classes = more.classes;
    all_.excluded = more.excluded;
    all_.asked = more.asked;
    all_.one_build = more.one_build;
    all_.expects = more.expects;
    globs_ = globs_of_groups(more);
    all_.unused_waivers = more.unused_waivers;
  } else {
    ARCHGUARD_CHECK(check_question(part));
    for (const FileResult& file : more.files) ARCHGUARD_CHECK(check_file(part.name, file));
    keep_unused(more.unused_waivers);
  }
  for (FileResult& file : more.files) add_file(part.name, std::move(file));
  for (Unread& each : more.passed_over)
    if (passed_over_.insert(each.path).second) all_.passed_over.push_back(std::move(each));
  for (std::string& path : more.looked_in)
    if (looked_in_.insert(path).second) all_.looked_in.push_back(std::move(path));
  for (Error& error : more.owner_errors)
    if (owner_errors_.insert(error.text()).second) all_.owner_errors.push_back(std::move(error));
  if (more.needed) add_needed_outcome(*more.needed);
  return Done{};
}

Verification Join::finish() {
  // As one run has them: the libraries that files need stand behind all that are named.
  std::stable_partition(all_.files.begin(), all_.files.end(),
                        [](const FileResult& file) { return file.needed_by.empty(); });
  for (FileResult& file : all_.files) forget_alternatives(file);
  find_alternatives(all_, globs_);
  return std::move(all_);
}

Status Join::check_question(const ResultPart& part) const {
  const Verification& more = part.verification;
  if (!same_devices(all_.devices, more.devices) || !same_excluded(all_.excluded, more.excluded))
    return Error{part.name, "was asked for other devices than " + first_,
                 "verify all parts with the same --fleet or --device"};
  if (globs_ != globs_of_groups(more))
    return Error{part.name, "was asked for other alternatives than " + first_,
                 "verify all parts with the same --any-of"};
  if (all_.asked != more.asked)
    return Error{part.name, "was judged " + how(more.asked) + ", and " + first_ + " " + how(all_.asked),
                 "verify all parts with the same options, or report each for itself"};
  if (all_.expects != more.expects)
    return Error{part.name, "was asked for other images than " + first_,
                 "verify all parts with --expect, or none"};
  return Done{};
}

// A waiver that any part had a use for is used.
void Join::keep_unused(const std::vector<UnusedWaiver>& more) {
  std::vector<UnusedWaiver> kept;
  for (UnusedWaiver& each : all_.unused_waivers)
    for (const UnusedWaiver& other : more) {
      if (other.waiver.origin != each.waiver.origin || other.waiver.kernel != each.waiver.kernel) continue;
      each.kernel_read |= other.kernel_read;
      kept.push_back(each);
      break;
    }
  all_.unused_waivers = std::move(kept);
}

void Join::add_needed_outcome(NeededOutcome& more) {
  if (!all_.needed) all_.needed.emplace();
  for (std::string& library : more.passed_over)
    if (needed_passed_over_.insert(library).second) all_.needed->passed_over.push_back(std::move(library));
  for (Error& error : more.errors)
    if (needed_errors_.insert(error.text()).second) all_.needed->errors.push_back(std::move(error));
}

Result<Verification> join_parts(std::vector<ResultPart> parts) {
  Join joiner;
  for (ResultPart& part : parts) ARCHGUARD_CHECK(joiner.add(part));
  return joiner.finish();
}

}  // namespace archguard
