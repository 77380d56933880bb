#include "image/ptx_calls.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "image/ptx_body_words.h"
#include "image/ptx_lexer.h"
#include "image/ptx_limits.h"
#include "image/ptx_variables.h"

namespace archguard {
namespace {

// Of targets with an `a`.
constexpr Version kFirstMoreShared{13, 0};
// ptxas and nvJitLink of 12.4, 12.5 and 12.6 do not look; those of 12.3 and 12.8 do.
constexpr CudaRange kSharedNotCounted{{12, 4}, {12, 8}};
constexpr const char* kWithoutSize =
    "declare that shared memory without a size (extern __shared__), which the launch gives";

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, UINT64_MAX - a);
}

PtxRefusal too_much_shared(std::string_view kernel, std::uint64_t bytes, Arch target) {
  PtxRefusal refusal;
  refusal.reason = "the kernel '" + std::string(kernel) + "' of its PTX has " + std::to_string(bytes) +
                   " bytes of static shared memory, and " + std::to_string(kSharedMost) + " are the most";
  refusal.mend = kWithoutSize;
  refusal.not_refused = kSharedNotCounted;
  if (target.suffix == Suffix::a) {
    refusal.taken_from = kFirstMoreShared;
    refusal.reason += " for drivers before CUDA " + to_string(kFirstMoreShared);
  }
  return refusal;
}

PtxRefusal perhaps_too_much_shared(std::string_view kernel, std::uint64_t bytes) {
  PtxRefusal refusal;
  refusal.reason = "whether compilers take the kernel '" + std::string(kernel) +
                   "' of its PTX is not known: with the functions that it reaches it has " +
                   std::to_string(bytes) + " bytes of static shared memory, " + std::to_string(kSharedMost) +
                   " are the most, and functions that are called one after the other may share theirs";
  refusal.mend = kWithoutSize;
  refusal.in_doubt = true;
  return refusal;
}

}  // namespace

// The bodies as a graph: nodes are in the order of bodies_, and one more is what is called through pointers.
class PtxCallGraph {
 public:
  explicit PtxCallGraph(const PtxCalls& calls) : calls_(calls), nodes_(calls.bodies_.size() + 1) {
    for (std::size_t i = 0; i < calls.bodies_.size(); ++i)
      if (!calls.bodies_[i].kernel) functions_.emplace(calls.bodies_[i].name, i);
    for (const auto& [name, of] : calls.aliases_)
      if (const auto function = functions_.find(of); function != functions_.end())
        functions_.emplace(name, function->second);
    for (std::size_t i = 0; i < calls.shared_.size(); ++i) shared_.emplace(calls.shared_[i].name, i);
    for (const std::string_view name : calls.small_) small_.emplace(name, 0);
    for (std::size_t i = 0; i < calls.externs_.size(); ++i) externs_.emplace(calls.externs_[i], i);
    for (const std::string_view text : calls.values_) take_addresses(text);
    for (std::size_t i = 0; i < calls.bodies_.size(); ++i) read(i);
    find_groups();
    for (std::size_t i = 0; i < calls.bodies_.size(); ++i)
      if (!calls.bodies_[i].kernel) of_functions_.insert(nodes_[i].shared.begin(), nodes_[i].shared.end());
  }

  std::optional<PtxRefusal> check(Arch target) {
    steps_ = 0;
    std::optional<PtxRefusal> doubt;
    for (std::size_t i = 0; i < calls_.bodies_.size(); ++i) {
      if (!calls_.bodies_[i].kernel) continue;
      const std::string name(calls_.bodies_[i].name);
      if (groups_[nodes_[i].group].passes_small)
        return PtxRefusal{
            "the kernel '" + name +
                "' of its PTX reaches a call that passes a predicate, or a number of 8 or 16 bits, in a "
                "register",
            "pass it as .param, or in a register of 32 bits",
            {}};
      const auto reach = reach_of(i);
      const std::uint64_t module = reach ? reach->module : 0;
      const std::uint64_t least = plus(plus(nodes_[i].all, least_of_functions(i)), module);
      if (least > kSharedMost) return too_much_shared(name, least, target);
      const std::uint64_t most = reach ? plus(reach->bodies, module) : calls_.most();
      if (most > kSharedMost && !doubt) doubt = perhaps_too_much_shared(name, most);
    }
    return doubt;
  }

  std::vector<SharedUse> uses() {
    steps_ = 0;
    std::vector<SharedUse> all;
    for (std::size_t i = 0; i < calls_.bodies_.size(); ++i) {
      SharedUse use;
      use.name = calls_.bodies_[i].name;
      use.kernel = calls_.bodies_[i].kernel;
      use.own = nodes_[i].named;
      use.least = plus(nodes_[i].named, least_of_functions(i));
      use.sure = true;
      std::set<std::size_t> externs;
      const auto reach = reach_of(i, &externs);
      use.most = plus(nodes_[i].all, module_scope_of_kernel(nodes_[i]));
      use.through_pointers = !reach || reached_[pointers()] == round_;
      for (const std::size_t each : externs) use.calls.emplace_back(calls_.externs_[each]);
      all.push_back(std::move(use));
    }
    return all;
  }

  void tell_needs(LinkNames& names) {
    // A real module has some hundred.
    constexpr std::size_t kNeedsSteps = std::size_t{1} << 18, kNeedsBytes = std::size_t{1} << 20;
    steps_ = 0;
    std::size_t bytes = 0;
    const std::set<std::string_view> wanted(names.wanted.begin(), names.wanted.end());
    const std::set<std::string_view> defined(names.defined.begin(), names.defined.end());
    std::vector<std::pair<std::string_view, std::size_t>> functions;  // that others may call
    for (std::size_t i = 0; i < calls_.bodies_.size(); ++i)
      if (calls_.bodies_[i].kernel || defined.count(calls_.bodies_[i].name) != 0)
        functions.emplace_back(calls_.bodies_[i].name, i);
    for (const auto& alias : calls_.aliases_)
      if (const auto found = functions_.find(alias.first);
          found != functions_.end() && defined.count(alias.first) != 0)
        functions.emplace_back(*found);
    std::set<std::string> surely(names.surely.begin(), names.surely.end());
    for (const auto& [name, body] : functions) {
      std::set<std::size_t> externs;
      names.tells_needs = names.tells_needs && reach_of(body, &externs, kNeedsSteps);
      if (!names.tells_needs) break;
      for (const std::size_t each : externs) {
        const std::string_view needed = calls_.externs_[each];
        if (wanted.count(needed) == 0) continue;
        if (calls_.bodies_[body].kernel) {
          surely.emplace(needed);
        } else if (bytes += name.size() + needed.size() + 1; bytes <= kNeedsBytes) {
          names.through.emplace_back(name, needed);
        } else {
          names.tells_needs = false;
        }
      }
    }
    names.surely.assign(surely.begin(), surely.end());
  }

  // Bytes of what functions have that are no kernels, and of what they name at module scope.
  std::uint64_t of_functions() const {
    std::uint64_t bytes = calls_.of_functions_;
    for (const std::size_t each : of_functions_) bytes = plus(bytes, calls_.shared_[each].size);
    return bytes;
  }

 private:
  struct Node {
    std::vector<std::size_t> callees, shared, externs;
    std::uint64_t all = 0, named = 0;  // bytes of its own
    bool passes_small = false;
    std::size_t order = 0, lowest = 0, group = 0;  // of find_groups()
    bool waits = false;
  };
  // Functions that call each other.
  struct Group {
    std::uint64_t named = 0, below = 0;  // bytes of its members, and the most of what they call
    bool passes_small = false;
  };

  std::size_t pointers() const { return nodes_.size() - 1; }

  void take_addresses(std::string_view text) {
    PtxLexer lexer(text);
    for (auto token = lexer.next(); !token.empty(); token = lexer.next())
      if (const auto function = functions_.find(token); function != functions_.end())
        nodes_[pointers()].callees.push_back(function->second);
  }

  void read(std::size_t index) {
    Node& node = nodes_[index];
    PtxBodyWords words(calls_.bodies_[index].text, true);
    std::unordered_map<std::string_view, std::uint64_t> own;
    std::string_view register_of;
    for (auto token = words.next(); !token.empty(); token = words.next()) {
      if (token == ".shared" && words.opcode() == token) {
        PtxVariables variables(words.lexer(), token, {calls_.isa_, 0}, false);
        while (const auto variable = variables.next()) {
          own[variable->name] = plus(own[variable->name], variable->size);
          node.all = plus(node.all, variable->size);
          words.declare(variable->name);
        }
        words.end_declaration();
        continue;
      }
      if (token == ".callprototype" || token == ".calltargets") {
        node.callees.push_back(pointers());
        register_of = token;
      }
      if (token == ";") register_of = {};
      if (!register_of.empty() && words.before() == ".reg") node.passes_small |= is_small_ptx_type(token);
      if (const auto mine = own.find(token); mine != own.end()) {
        node.named = plus(node.named, mine->second);
        mine->second = 0;
      }
      if (!words.is_outer()) continue;
      const bool calls = starts_with(words.opcode(), "call");
      if (const auto function = functions_.find(token); function != functions_.end()) {
        node.callees.push_back(function->second);
        if (!calls) nodes_[pointers()].callees.push_back(function->second);
      }
      if (const auto other = externs_.find(token); other != externs_.end())
        node.externs.push_back(other->second);
      if (calls && small_.count(token) != 0) node.passes_small = true;
      if (const auto shared = shared_.find(token); shared != shared_.end())
        node.shared.push_back(shared->second);
    }
  }

  // Tarjan's: a group is whole when all that it calls is.
  void find_groups() {
    struct Step {
      std::size_t node, next;
    };
    std::size_t order = 0;
    std::vector<std::size_t> waiting;
    for (std::size_t first = 0; first < nodes_.size(); ++first) {
      if (nodes_[first].order != 0) continue;
      std::vector<Step> path = {{first, 0}};
      while (!path.empty()) {
        auto& [index, next] = path.back();
        Node& node = nodes_[index];
        if (next == 0 && node.order == 0) {
          node.order = node.lowest = ++order;
          node.waits = true;
          waiting.push_back(index);
        }
        if (next < node.callees.size()) {
          const std::size_t callee = node.callees[next++];
          if (nodes_[callee].order == 0)
            path.push_back({callee, 0});
          else if (nodes_[callee].waits)
            node.lowest = std::min(node.lowest, nodes_[callee].order);
          continue;
        }
        const std::size_t done = index;
        path.pop_back();
        if (!path.empty()) {
          Node& caller = nodes_[path.back().node];
          caller.lowest = std::min(caller.lowest, nodes_[done].lowest);
        }
        if (nodes_[done].lowest == nodes_[done].order) close_group(done, waiting);
      }
    }
  }

  void close_group(std::size_t first, std::vector<std::size_t>& waiting) {
    std::vector<std::size_t> members;
    do {
      members.push_back(waiting.back());
      waiting.pop_back();
      nodes_[members.back()].waits = false;
      nodes_[members.back()].group = groups_.size();
    } while (members.back() != first);
    Group group;
    for (const std::size_t member : members) {
      group.named = plus(group.named, nodes_[member].named);
      group.passes_small |= nodes_[member].passes_small;
      for (const std::size_t callee : nodes_[member].callees) {
        if (nodes_[callee].group == groups_.size()) continue;
        const Group& below = groups_[nodes_[callee].group];
        group.below = std::max(group.below, plus(below.named, below.below));
        group.passes_small |= below.passes_small;
      }
    }
    groups_.push_back(group);
  }

  // What compilers count at least: functions that are called one after the other may share their memory.
  std::uint64_t least_of_functions(std::size_t kernel) const {
    std::uint64_t most = 0;
    for (const std::size_t callee : nodes_[kernel].callees) {
      const Group& group = groups_[nodes_[callee].group];
      const std::uint64_t unnamed = nodes_[callee].all - std::min(nodes_[callee].all, nodes_[callee].named);
      most = std::max(most, plus(plus(group.named, group.below), unnamed));
    }
    return most;
  }

  // Bytes of what a kernel names at module scope and no function does.
  std::uint64_t module_scope_of_kernel(const Node& kernel) const {
    const std::set<std::size_t> named(kernel.shared.begin(), kernel.shared.end());
    std::uint64_t bytes = 0;
    for (const std::size_t each : named)
      if (of_functions_.count(each) == 0) bytes = plus(bytes, calls_.shared_[each].size);
    return bytes;
  }

  // Bytes of what a kernel reaches, itself included, each once.
  struct Reach {
    std::uint64_t bodies = 0, module = 0;
  };

  // Nothing where it would cost too much: kernels that reach much the same functions cost without end.
  std::optional<Reach> reach_of(std::size_t kernel, std::set<std::size_t>* externs = nullptr,
                                std::size_t most_steps = std::size_t{1} << 24) {
    ++round_;
    reached_.resize(nodes_.size());
    counted_.resize(calls_.shared_.size());
    Reach reach;
    std::vector<std::size_t> open = {kernel};
    reached_[kernel] = round_;
    while (!open.empty()) {
      const Node& node = nodes_[open.back()];
      open.pop_back();
      steps_ += node.shared.size() + node.callees.size() + node.externs.size() + 1;
      if (steps_ > most_steps) return std::nullopt;
      if (externs != nullptr) externs->insert(node.externs.begin(), node.externs.end());
      reach.bodies = plus(reach.bodies, node.all);
      for (const std::size_t shared : node.shared)
        if (std::exchange(counted_[shared], round_) != round_)
          reach.module = plus(reach.module, calls_.shared_[shared].size);
      for (const std::size_t callee : node.callees)
        if (std::exchange(reached_[callee], round_) != round_) open.push_back(callee);
    }
    return reach;
  }

  const PtxCalls& calls_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;
  std::set<std::size_t> of_functions_;  // in shared memory at module scope: what a function names
  std::unordered_map<std::string_view, std::size_t> functions_, shared_, small_, externs_;
  std::vector<std::size_t> reached_, counted_;  // the last round that did
  std::size_t round_ = 0, steps_ = 0;
};

PtxCalls::PtxCalls(Version isa) : isa_(isa) {}
PtxCalls::~PtxCalls() = default;

void PtxCalls::add_body(std::string_view name, bool kernel, std::string_view body, std::uint64_t shared) {
  bodies_.push_back({name, body, kernel});
  if (kernel)
    of_kernel_ = std::max(of_kernel_, shared);
  else
    of_functions_ = plus(of_functions_, shared);
}

void PtxCalls::add_shared(std::string_view name, std::uint64_t size) {
  shared_.push_back({name, size});
  of_module_ = plus(of_module_, size);
}

void PtxCalls::add_alias(std::string_view name, std::string_view of) {
  aliases_.emplace_back(name, of);
}

void PtxCalls::add_values(std::string_view text) {
  values_.push_back(text);
}

void PtxCalls::add_small_registers(std::string_view name) {
  small_.push_back(name);
}

void PtxCalls::add_extern(std::string_view name) {
  externs_.push_back(name);
}

void PtxCalls::tell(LinkNames& names) {
  if (most() == 0) return;
  names.shared_of_functions = graph().of_functions();
  names.shared = std::make_shared<const std::vector<SharedUse>>(graph().uses());
}

void PtxCalls::tell_needs(LinkNames& names) {
  if (!externs_.empty()) graph().tell_needs(names);
}

PtxCallGraph& PtxCalls::graph() {
  if (!graph_) graph_ = std::make_unique<PtxCallGraph>(*this);
  return *graph_;
}

std::uint64_t PtxCalls::most() const {
  return plus(plus(of_functions_, of_module_), of_kernel_);
}

std::optional<PtxRefusal> PtxCalls::check(Arch target) {
  if (most() <= kSharedMost && small_.empty()) return std::nullopt;
  return graph().check(target);
}

}  // namespace archguard
