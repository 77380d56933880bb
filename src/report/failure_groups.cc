#include "report/failure_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace archguard {
namespace {

// Equal for failures that are said in the same words, but for their place: of kernels, or of variables. What
// a fix names of one file, such as the kernel to waive, or the target that made it, does not part them.
using Likeness = std::tuple<int, bool, bool, bool, FailureCause, std::string, std::string>;

bool is_of_variable(const Failure& failure) {
  return failure.kernel.empty() && !failure.variable.empty();
}

Likeness likeness_of(const Failure& failure, const FixTarget& target) {
  std::string fix = !failure.mend.lacking.empty() ? failure.mend.lacking : failure.fix;
  if (!target.name.empty() && !failure.add.empty() && fix == fix_by_adding(failure.add, target))
    fix = fix_by_adding(failure.add, FixTarget{});
  return {failure.code,  failure.numbered, failure.unknown, is_of_variable(failure),
          failure.cause, failure.reason,   std::move(fix)};
}

// One cause on one class of devices.
struct OnClass {
  std::size_t device = 0;
  const Failure* failure = nullptr;
  std::vector<std::size_t> files;
  std::uint64_t fatbins = 0;
  bool same_found = true, same_names = true;
};

std::vector<OnClass> by_class(const Verification& verification) {
  std::vector<OnClass> found;
  std::map<std::pair<std::size_t, Likeness>, std::size_t> known;
  for (std::size_t file = 0; file < verification.files.size(); ++file) {
    const FileResult& result = verification.files[file];
    if (result.alternative) continue;
    for (std::size_t device = 0; device < result.devices.size(); ++device)
      for (const Failure& failure : result.devices[device].failures) {
        const auto [at, is_new] =
            known.try_emplace({device, likeness_of(failure, result.target)}, found.size());
        if (is_new) found.push_back({device, &failure, {}, 0});
        OnClass& like = found[at->second];
        like.same_found &= like.failure->found == failure.found;
        like.same_names &=
            like.failure->kernel == failure.kernel && like.failure->variable == failure.variable;
        if (like.files.empty() || like.files.back() != file) like.files.push_back(file);
        like.fatbins += std::max<std::size_t>(1, failure.places.size());
      }
  }
  return found;
}

}  // namespace

std::vector<FailureGroup> group_failures(const Verification& verification) {
  std::vector<FailureGroup> groups;
  // Classes of which the same files fail with the same error. What a library lacks is counted for each class,
  // and a class fails in several ways of one kind at times: those stay apart.
  using Kin = std::tuple<int, bool, bool, bool, FailureCause, std::vector<std::size_t>, std::string>;
  std::map<Kin, std::size_t> known;
  for (OnClass& each : by_class(verification)) {
    const Failure& failure = *each.failure;
    const bool apart = failure.cause == FailureCause::partly;
    const std::string mark = apart ? "class " + std::to_string(each.device) : failure.found;
    const auto [at, is_new] = known.try_emplace({failure.code, failure.numbered, failure.unknown,
                                                 is_of_variable(failure), failure.cause, each.files, mark},
                                                groups.size());
    FailureGroup* group = is_new ? nullptr : &groups[at->second];
    if (group != nullptr && group->classes.back().device == each.device) group = nullptr;
    if (group == nullptr) {
      at->second = groups.size();
      groups.push_back({each.files, {}, each.fatbins, true, true, true});
      group = &groups.back();
    }
    group->classes.push_back({each.device, each.failure});
    group->same_fatbins &= group->fatbins == each.fatbins;
    group->fatbins = std::max(group->fatbins, each.fatbins);
    group->same_found &= each.same_found;
    group->same_names &= each.same_names && each.failure->kernel == group->first().kernel &&
                         each.failure->variable == group->first().variable;
  }
  for (FailureGroup& group : groups)
    std::sort(group.classes.begin(), group.classes.end(),
              [](const auto& a, const auto& b) { return a.device < b.device; });
  return groups;
}

std::vector<Addition> additions_of(const FailureGroup& group) {
  std::map<Arch, Addition> all;
  for (const auto& [device, failure] : group.classes) {
    if (failure->add.empty()) return {};
    for (const Addition& add : failure->add) {
      Addition& sum = all.try_emplace(add.arch, Addition{add.arch}).first->second;
      sum.sass |= add.sass;
      sum.ptx |= add.ptx;
      sum.by_lto |= add.by_lto;
      sum.lacks_lto |= add.lacks_lto;
    }
  }
  std::vector<Addition> additions;
  for (const auto& [arch, add] : all) additions.push_back(add);
  return additions;
}

}  // namespace archguard
