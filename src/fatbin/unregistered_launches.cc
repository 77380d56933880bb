#include "fatbin/unregistered_launches.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/host_bytes.h"
#include "fatbin/relocations.h"
#include "fatbin/x64_code.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kLaunchesBlock = std::size_t{1} << 20;
constexpr unsigned kIndirect = 0xff, kCallOfSlot = 0x15, kJumpOfSlot = 0x25;

// The functions of the runtime that launch, the second one with `--default-stream per-thread`, and what
// stands in for them after `ld --wrap`.
const std::set<std::string>& launching_functions() {
  static const std::set<std::string> kNames{"cudaLaunchKernel", "cudaLaunchKernel_ptsz",
                                            "__wrap_cudaLaunchKernel", "__wrap_cudaLaunchKernel_ptsz"};
  return kNames;
}

// Those of nvcc 13.0 and newer, for what is registered.
const std::set<std::string>& launching_by_handle() {
  static const std::set<std::string> kNames{"__cudaLaunchKernel", "__cudaLaunchKernel_ptsz"};
  return kNames;
}

// Where the loader puts the addresses of these functions. Nothing where another kind of relocation asks for
// one, or they cannot be read.
std::optional<std::set<std::uint64_t>> slots_of(const ByteSource& source, const HostObject& host,
                                                const FunctionPlaces& functions) {
  const std::set<std::uint64_t>& symbols = functions.wanted;
  std::set<std::uint64_t> slots;
  bool told = true;
  const bool whole = visit_relocations(source, host, [&](const RelocationX64& each) {
    if (symbols.count(each.symbol) == 0) return;
    told &= each.type == RelocationX64::kGlobalData || each.type == RelocationX64::kJumpSlot;
    slots.insert(each.place);
  });
  if (!whole || !told || (slots.empty() && !symbols.empty())) return std::nullopt;
  // Its own, where the linker left the call indirect.
  const auto own = find_loaded_pointers(source, host, functions.defined);
  if (!own) return std::nullopt;
  for (const auto* each : {&own->slots, &own->others})
    for (const auto& [slot, function] : *each) slots.insert(slot);
  return slots;
}

// Goes through the code of a file, which calls a function by its distance, or by the slot that holds its
// address, itself or in a procedure linkage table (whose names begin with .plt), or takes its address.
class LaunchSearch {
 public:
  LaunchSearch(const HostObject& host, const FunctionPlaces& places, std::set<std::uint64_t> slots,
               bool fixed)
      : functions_(places.defined),
        slots_(std::move(slots)),
        places_(places),
        starts_(places.starts),
        fixed_(fixed) {
    for (const Section* table : global_offset_tables(host)) tables_.push_back(table->address);
    for (const Section& each : host.sections) {
      if (!each.loaded) continue;
      memory_begin_ = std::min(memory_begin_, each.address);
      memory_end_ = std::max(memory_end_, each.address + each.size);
    }
  }

  bool may_launch = false;
  bool any_calls() const { return !calls_.empty(); }
  void begin_anew() {
    may_launch = false;
    calls_.clear();
    farthest_ = 0;
  }
  // Where the function ends that begins there: where the next one begins.
  std::uint64_t end_of(std::uint64_t start) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), start);
    return next == starts_.end() ? start : *next;
  }

  // Its argument is set so many bytes before it, or kept since the function's beginning.
  struct LaunchCall {
    std::uint64_t place = 0;
    std::size_t distance = 0;
  };

  // False where it cannot be read.
  bool search_tables(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size) {
    return search(source, section, at, size, [&](ByteView bytes, std::size_t i, std::uint64_t place) {
      // An entry is 16 bytes from a multiple of 16 on, wherever the jump stands in it. Others are not known
      // (lld -z retpolineplt).
      may_launch |= !is_jump_by_slot(bytes, i);
      functions_.insert(place & ~std::uint64_t{15});
      functions_.insert(place - 2);
    });
  }

  bool search_code(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size) {
    return search(source, section, at, size, [&](ByteView bytes, std::size_t i, std::uint64_t place) {
      const unsigned before = bytes.data[i - 1];
      const bool indirect =
          i >= 2 && bytes.data[i - 2] == kIndirect && (before == kCallOfSlot || before == kJumpOfSlot);
      const bool conditional = i >= 2 && bytes.data[i - 2] == 0x0f && (before & 0xf0) == 0x80;
      const std::size_t call = i - (indirect || conditional ? 2 : 1);
      if (indirect || conditional || before == kCallX64 || before == kJumpX64)
        note_call(bytes, call, place - i + call);
      else
        may_launch |= (before & 0xc7) == 0x05;  // by ModRM, what takes its address
    });
  }

  // Of calls at one place, as sections of a damaged file may have, the one whose argument is set farthest
  // before it.
  void sort_calls() {
    std::sort(calls_.begin(), calls_.end(), [](const LaunchCall& a, const LaunchCall& b) {
      return a.place != b.place ? a.place < b.place : a.distance > b.distance;
    });
    calls_.erase(std::unique(calls_.begin(), calls_.end(),
                             [](const LaunchCall& a, const LaunchCall& b) { return a.place == b.place; }),
                 calls_.end());
  }

  // Once all code was searched and its calls are sorted: jumps to a call, behind what sets its argument, may
  // come from where it is null.
  bool search_jumps(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size) {
    return visit_blocks(
        source, section, at, size, [&](ByteView bytes, std::size_t first, std::uint64_t address) {
          for (std::size_t i = first; i < bytes.size && !may_launch; ++i)
            if (const auto distance = jump_at(bytes, i)) {
              const std::uint64_t from = address + i, to = from + static_cast<std::uint64_t>(*distance);
              may_launch |=
                  is_within_call(to, from) && may_jump(from, to) && !is_in_distance(bytes, i, address);
            }
        });
  }

 private:
  // `visit` gets the bytes of a block, some before and behind it, where it begins in them, and where they
  // begin in memory.
  template <class Visit>
  bool visit_blocks(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size,
                    const Visit& visit) {
    constexpr std::size_t kBehind = 8;
    Window in(source, kLooksBack + kLaunchesBlock + kBehind, 0);
    for (std::uint64_t begin = 0; begin < size && !may_launch; begin += kLaunchesBlock) {
      const auto before = static_cast<std::size_t>(std::min<std::uint64_t>(begin, kLooksBack));
      const auto rest =
          static_cast<std::size_t>(std::min<std::uint64_t>(size - begin, kLaunchesBlock + kBehind));
      const auto bytes = in.at(at + begin - before, before + rest);
      if (!bytes) return false;
      visit(ByteView(*bytes), before, section.address + (at + begin - section.offset) - before);
    }
    return true;
  }

  // Visits each distance to a function or slot, where it stands in the bytes and in memory.
  template <class Visit>
  bool search(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size,
              const Visit& visit) {
    note_borders();
    return visit_blocks(
        source, section, at, size, [&](ByteView bytes, std::size_t first, std::uint64_t address) {
          const Cursor words(bytes);
          for (std::size_t i = std::max<std::size_t>(first, 1); i + 4 <= bytes.size && !may_launch; ++i) {
            const std::uint32_t word = words.u32(i);
            const std::int64_t distance = static_cast<std::int32_t>(word);
            if (is_target(address + i + 4 + static_cast<std::uint64_t>(distance)))
              visit(bytes, i, address + i);
            const bool is_wide = i >= 2 && (bytes.data[i - 2] & 0xfe) == 0x48 &&
                                 (bytes.data[i - 1] & 0xf8) == 0xb8 && i + 8 <= bytes.size;  // movabs
            may_launch |= (fixed_ && is_target(word)) || (is_wide && is_taken(words.u64(i)));
          }
        });
  }

  // How many bytes of the function's code are looked at, before an instruction that begins at `at` in the
  // bytes and at `place` in memory.
  std::size_t looks_back(std::size_t at, std::uint64_t place) const {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(place - last_start(starts_, place), std::min(at, kLooksBack)));
  }
  FirstArgument argument_at(ByteView bytes, std::size_t at, std::uint64_t place) const {
    const Cursor words(bytes);
    const auto calls = [&](std::size_t each) {  // any byte may look like one
      if (bytes.data[each] != kCallX64 || at - each < 5) return false;
      const std::int64_t distance = static_cast<std::int32_t>(words.u32(each + 1));
      return std::binary_search(starts_.begin(), starts_.end(),
                                place - (at - each) + 5 + static_cast<std::uint64_t>(distance));
    };
    const auto is_distance = [&](std::size_t each) { return is_in_address(bytes, each, place - at); };
    return first_argument(bytes.data, at - looks_back(at, place), at, fixed_ ? starts_ : kNoStarts, calls,
                          is_distance);
  }

  // `call`: where it begins in the bytes, `place` in memory. A function that hands on its own first argument
  // launches what others registered: for what is not, nvcc calls the runtime's.
  void note_call(ByteView bytes, std::size_t call, std::uint64_t place) {
    constexpr std::size_t kCallsMost = std::size_t{1} << 20;
    const FirstArgument argument = argument_at(bytes, call, place);
    const std::size_t back = looks_back(call, place);
    const bool kept = argument.kept && last_start(starts_, place) == place - back;
    if ((!kept && !argument.set) || calls_.size() == kCallsMost) {
      may_launch = true;
      return;
    }
    calls_.push_back({place, kept ? back : call - *argument.set});
    farthest_ = std::max(farthest_, calls_.back().distance);
  }

  // In one function, or between it and what GCC splits off.
  bool may_jump(std::uint64_t from, std::uint64_t to) const {
    const auto whole_of = [&](std::uint64_t place) {
      return std::max(last_start(starts_, place), last_start(places_.parts, place));
    };
    const auto is_cold = [&](std::uint64_t place) {
      return last_start(places_.cold, place) > whole_of(place);
    };
    return whole_of(from) == whole_of(to) || is_cold(from) || is_cold(to);
  }
  static std::uint64_t last_start(const std::vector<std::uint64_t>& starts, std::uint64_t place) {
    const auto behind = std::upper_bound(starts.begin(), starts.end(), place);
    return behind == starts.begin() ? 0 : *std::prev(behind);
  }

  // Does a jump from there lead behind what sets the argument of a call, from elsewhere than between that and
  // the call?
  bool is_within_call(std::uint64_t place, std::uint64_t from) const {
    auto call = std::lower_bound(calls_.begin(), calls_.end(), place,
                                 [](const LaunchCall& each, std::uint64_t at) { return each.place < at; });
    for (; call != calls_.end() && call->place - place < farthest_; ++call) {
      const bool from_there = from < call->place && call->place - from <= call->distance;
      if (call->place - place < call->distance && !from_there) return true;
    }
    return false;
  }

  // Is the byte a part of the distance of `mov` or `lea` of 64 bits, REX.W and ModRM, to somewhere in the
  // file's memory?
  bool is_in_address(ByteView bytes, std::size_t at, std::uint64_t address) const {
    constexpr std::size_t kBefore = 3, kDistance = 4;
    for (std::size_t into = 0; into < kDistance && into + kBefore <= at; ++into) {
      const std::size_t distance = at - into;  // where it begins
      const unsigned char* code = bytes.data + distance - kBefore;
      const bool is_it =
          (code[0] & 0xf8) == 0x48 && (code[1] == 0x8b || code[1] == 0x8d) && (code[2] & 0xc7) == 0x05;
      if (!is_it || distance + kDistance > bytes.size) continue;
      const std::int64_t far = static_cast<std::int32_t>(Cursor(bytes).u32(distance));
      if (is_in_memory(address + distance + kDistance + static_cast<std::uint64_t>(far))) return true;
    }
    return false;
  }
  bool is_in_memory(std::uint64_t place) const { return place >= memory_begin_ && place < memory_end_; }

  // Is the byte a part of another instruction's distance, to somewhere in the file's memory: of call, jmp or
  // a jump on a condition, or of mov or lea?
  bool is_in_distance(ByteView bytes, std::size_t at, std::uint64_t address) const {
    const Cursor words(bytes);
    for (std::size_t op = at - std::min<std::size_t>(at, 4); op < at; ++op) {
      if (op + 5 > bytes.size) break;
      const unsigned first = bytes.data[op], before = op == 0 ? 0 : bytes.data[op - 1];
      const bool by_modrm = (first & 0xc7) == 0x05 && (before == 0x8b || before == 0x8d || before == 0x89);
      if (first != kCallX64 && first != kJumpX64 && !by_modrm && (before != 0x0f || (first & 0xf0) != 0x80))
        continue;
      const std::int64_t distance = static_cast<std::int32_t>(words.u32(op + 1));
      if (is_in_memory(address + op + 5 + static_cast<std::uint64_t>(distance))) return true;
    }
    return false;
  }

  bool is_target(std::uint64_t place) const {
    return place >= lowest_ && place <= highest_ &&
           (functions_.count(place) != 0 || slots_.count(place) != 0);
  }
  // By its address, or by its distance to the global offset table (-mcmodel=large).
  bool is_taken(std::uint64_t word) const {
    return is_target(word) || std::any_of(tables_.begin(), tables_.end(),
                                          [&](std::uint64_t table) { return is_target(table + word); });
  }
  void note_borders() {
    lowest_ = UINT64_MAX;
    highest_ = 0;
    for (const auto* places : {&functions_, &slots_}) {
      if (places->empty()) continue;
      lowest_ = std::min(lowest_, *places->begin());
      highest_ = std::max(highest_, *places->rbegin());
    }
  }
  static bool is_jump_by_slot(ByteView bytes, std::size_t i) {
    return i >= 2 && bytes.data[i - 2] == kIndirect && bytes.data[i - 1] == kJumpOfSlot;
  }

  std::set<std::uint64_t> functions_, slots_;
  std::uint64_t lowest_ = 0, highest_ = 0;  // of both
  const FunctionPlaces& places_;
  const std::vector<std::uint64_t>& starts_;                  // of functions, ascending
  std::uint64_t memory_begin_ = UINT64_MAX, memory_end_ = 0;  // of the file
  std::vector<std::uint64_t> tables_;                         // that may be the global offset table
  std::vector<LaunchCall> calls_;
  std::size_t farthest_ = 0;  // that the argument of one is set before it
  bool fixed_;
  static inline const std::vector<std::uint64_t> kNoStarts;
};

using LookForLaunches = bool (LaunchSearch::*)(const ByteSource&, const Section&, std::uint64_t,
                                               std::uint64_t);

bool is_linkage_table(const Section& section) {
  return section.executable && starts_with(section.name, ".plt");
}
bool is_launching_code(const Section& section) {
  return section.executable && !is_linkage_table(section);
}

std::optional<ElfHeader> header_of_x64(const ByteSource& source, const HostObject& host) {
  if (!host.linked || host.format != HostFormat::elf) return std::nullopt;
  const auto header = read_elf_header(source);
  if (!header || !header->is64 || header->machine != kElfMachineX64) return std::nullopt;
  return *header;
}

}  // namespace

bool may_launch_unregistered(const ByteSource& source, const HostObject& host,
                             const std::vector<Fatbin>& fatbins) {
  const auto header = header_of_x64(source, host);
  if (!header) return true;
  const auto places = places_of_functions(source, host, launching_functions());
  const auto slots = places ? slots_of(source, host, *places) : std::nullopt;
  if (!slots) return true;
  if (places->defined.empty() && slots->empty()) {
    // What is registered is launched by others, from nvcc 13.0 on.
    const auto others = places_of_functions(source, host, launching_by_handle());
    return !others || (others->defined.empty() && others->wanted.empty());
  }
  LaunchSearch search(host, *places, *slots, header->type == kElfExecutable);
  const auto visit = [&](const std::function<bool(const Section&)>& is_wanted, LookForLaunches look) {
    return visit_host_bytes(source, host, fatbins, is_wanted,
                            [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                              return (search.*look)(source, section, at, size);
                            });
  };
  if (!visit(is_linkage_table, &LaunchSearch::search_tables) ||
      !visit(is_launching_code, &LaunchSearch::search_code))
    return true;
  search.sort_calls();
  return !visit(is_launching_code, &LaunchSearch::search_jumps) || search.may_launch;
}

std::map<std::string, bool> launching_themselves(const ByteSource& source, const HostObject& host,
                                                 const std::vector<Fatbin>& fatbins,
                                                 const std::set<std::string>& beginnings) {
  const auto header = header_of_x64(source, host);
  const auto functions = header ? functions_beginning(source, host, beginnings) : std::nullopt;
  if (!functions || functions->empty()) return {};
  std::set<std::string> launching = launching_functions();
  launching.insert(launching_by_handle().begin(), launching_by_handle().end());
  const auto places = places_of_functions(source, host, launching);
  const auto slots = places ? slots_of(source, host, *places) : std::nullopt;
  if (!slots) return {};
  LaunchSearch search(host, *places, *slots, header->type == kElfExecutable);
  const bool tables = visit_host_bytes(source, host, fatbins, is_linkage_table,
                                       [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                                         return search.search_tables(source, section, at, size);
                                       });
  if (!tables || search.may_launch) return {};
  // Of a piece, what belongs to the function.
  const auto visit = [&](std::uint64_t start, LookForLaunches look) {
    const std::uint64_t end = search.end_of(start);
    return visit_host_bytes(
        source, host, fatbins, is_launching_code,
        [&](const Section& section, std::uint64_t at, std::uint64_t size) {
          const std::uint64_t address = section.address + (at - section.offset);
          const std::uint64_t first = std::max(address, start), last = std::min(address + size, end);
          return first >= last || (search.*look)(source, section, at + (first - address), last - first);
        });
  };
  std::map<std::string, bool> themselves;
  for (const auto& [name, starts] : *functions)
    themselves[name] = std::all_of(starts.begin(), starts.end(), [&](std::uint64_t start) {
      search.begin_anew();
      if (!visit(start, &LaunchSearch::search_code)) return false;
      search.sort_calls();
      return visit(start, &LaunchSearch::search_jumps) && !search.may_launch && search.any_calls();
    });
  return themselves;
}

}  // namespace archguard::fatbin
