#include "coverage/link_shared.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "image/ptx_limits.h"

namespace archguard {
namespace {

std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, UINT64_MAX - a);
}

// All objects of a link, by what they define.
class SharedGraph {
 public:
  explicit SharedGraph(const std::vector<LinkedShared>& objects) {
    for (const LinkedShared& object : objects) {
      of_functions_ = add_up(of_functions_, object.of_functions);
      for (const std::string& name : object.defined) objects_.emplace(name, &object);
      if (!object.uses) continue;
      for (const SharedUse& use : *object.uses) {
        uses_.emplace(use.name, &use);
        of_kernel_ = std::max(of_kernel_, use.kernel ? use.most : 0);
      }
    }
  }

  // Of a kernel with all functions of all objects.
  std::uint64_t all() const { return add_up(of_functions_, of_kernel_); }

  // Along the calls that are sure. What calls itself is counted once.
  std::uint64_t least(const SharedUse& use, std::size_t depth = 0) {
    constexpr std::size_t kDeepest = 1000;
    const auto [known, is_new] = least_.emplace(&use, use.least);
    if (!is_new || !use.sure || depth == kDeepest) return known->second;
    std::uint64_t below = 0;
    for (const std::string& name : use.calls)
      if (const auto called = uses_.find(name); called != uses_.end())
        below = std::max(below, least(*called->second, depth + 1));
    return least_[&use] = std::max(use.least, add_up(use.own, below));
  }

  // Of a kernel of this object. A kernel that calls another object has the memory of all functions of its
  // own, as that may call them (nvJitLink 13.0 counts so); for those of other objects it is taken to be
  // likewise.
  std::uint64_t most(const LinkedShared& object, const SharedUse& kernel) const {
    if (kernel.through_pointers) return add_up(kernel.most, of_functions_);
    return add_up(kernel.most, of_reached(object, kernel.calls));
  }
  // Of one in an object without any, which may call whatever that wants.
  std::uint64_t most(const LinkedShared& object) const { return of_reached(object, object.wanted); }

 private:
  std::uint64_t of_reached(const LinkedShared& first, const std::vector<std::string>& calls) const {
    std::set<const LinkedShared*> seen = {&first};
    std::vector<std::string> open = calls;
    std::set<std::string> reached(calls.begin(), calls.end());
    std::uint64_t bytes = first.of_functions;
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const auto use = uses_.find(name);
      if (use != uses_.end() && use->second->through_pointers) return of_functions_;
      const auto found = objects_.find(name);
      if (found == objects_.end() || !seen.insert(found->second).second) continue;
      bytes = add_up(bytes, found->second->of_functions);
      for (const std::string& each : found->second->wanted)
        if (reached.insert(each).second) open.push_back(each);
    }
    return bytes;
  }

  std::uint64_t of_functions_ = 0, of_kernel_ = 0;  // the last of the one that has the most
  std::unordered_map<std::string, const SharedUse*> uses_;
  std::unordered_map<std::string, const LinkedShared*> objects_;
  std::unordered_map<const SharedUse*, std::uint64_t> least_;
};

}  // namespace

LinkedShared linked_shared_of(const Image& image) {
  const LinkNames& names = image.code->names;
  LinkedShared shared;
  shared.uses = names.shared;
  shared.of_functions = names.shared_of_functions;
  shared.kernels = !image.code->kernels.empty();
  shared.specific = image.entry.arch.suffix == Suffix::a;
  shared.defined = names.defined;
  shared.wanted = names.wanted;
  return shared;
}

std::optional<TooMuchShared> most_linked_shared(const std::vector<LinkedShared>& objects) {
  SharedGraph graph(objects);
  if (graph.all() <= kSharedMost) return std::nullopt;
  std::optional<TooMuchShared> doubt;
  for (const LinkedShared& object : objects) {
    if (!object.uses) {
      const std::uint64_t most = object.kernels ? graph.most(object) : 0;
      if (most > kSharedMost && !doubt) doubt = TooMuchShared{"of an object without any", most, false, false};
      continue;
    }
    for (const SharedUse& use : *object.uses) {
      if (!use.kernel || use.calls.empty()) continue;  // as it is by itself
      const std::uint64_t least = graph.least(use), most = graph.most(object, use);
      if (least > kSharedMost) return TooMuchShared{use.name, least, true, object.specific};
      if (most > kSharedMost && !doubt) doubt = TooMuchShared{use.name, most, false, object.specific};
    }
  }
  return doubt;
}

}  // namespace archguard
