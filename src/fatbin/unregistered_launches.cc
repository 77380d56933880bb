#include "fatbin/unregistered_launches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/host_bytes.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

constexpr std::uint16_t kLaunchesX64 = 62;  // EM_X86_64
constexpr std::size_t kLaunchesBlock = std::size_t{1} << 20;
constexpr std::size_t kLooksBack = 96;  // bytes of code before a call that may set its arguments
constexpr unsigned kCall = 0xe8, kJump = 0xe9, kIndirect = 0xff, kCallOfSlot = 0x15, kJumpOfSlot = 0x25;

// The functions of the runtime that launch; the second one with `--default-stream per-thread`.
const std::set<std::string>& launching_functions() {
  static const std::set<std::string> kNames{"cudaLaunchKernel", "cudaLaunchKernel_ptsz"};
  return kNames;
}

// Where the loader puts the addresses of these symbols: .rela.plt and .rela.dyn have u64 place, u32 type, u32
// symbol and u64 addend. Nothing where another kind of relocation asks for one, or they cannot be read.
std::optional<std::set<std::uint64_t>> slots_of(const ByteSource& source, const HostObject& host,
                                                const std::set<std::uint64_t>& symbols) {
  constexpr std::size_t kEntry = 24, kAtOnce = 512;
  constexpr std::uint32_t kGlobalData = 6, kJumpSlot = 7;  // R_X86_64_…
  std::set<std::uint64_t> slots;
  for (const char* name : {".rela.plt", ".rela.dyn"}) {
    const Section* table = section_of(host, name);
    if (table == nullptr) continue;
    Window in(source, kEntry * kAtOnce, kEntry * kAtOnce);
    for (std::uint64_t at = 0; table->size - at >= kEntry; at += kEntry) {
      const auto bytes = in.at(table->offset + at, kEntry);
      if (!bytes) return std::nullopt;
      const Cursor entry(*bytes);
      if (symbols.count(entry.u32(12)) == 0) continue;
      if (entry.u32(8) != kGlobalData && entry.u32(8) != kJumpSlot) return std::nullopt;
      slots.insert(entry.u64(0));
    }
  }
  if (slots.empty() && !symbols.empty()) return std::nullopt;
  return slots;
}

// Does the code before a call set its first argument, rdi, to something? The last instruction that is seen to
// set it decides. (Intel 64 Architectures Manual, volume 2: REX 48 to 4f, ModRM.)
bool hands_over_something(const unsigned char* code, std::size_t call) {
  const std::size_t first = call - std::min(call, kLooksBack);
  const auto is_zero = [&](std::size_t at) {
    return std::all_of(code + at, code + at + 4, [](unsigned char each) { return each == 0; });
  };
  for (std::size_t at = call; at-- > first;) {
    const std::size_t left = call - at;
    const unsigned char* in = code + at;
    if (left >= 2 && (in[0] == 0x31 || in[0] == 0x33) && in[1] == 0xff) return false;  // xor edi, edi
    if (left >= 5 && in[0] == 0xbf) return !is_zero(at + 1);                           // mov edi, number
    if (left >= 7 && in[0] == 0x48 && in[1] == 0xc7 && in[2] == 0xc7) return !is_zero(at + 3);
    if (left < 3) continue;
    const bool to_first = (in[2] & 0x38) == 0x38;
    if ((in[0] == 0x48 || in[0] == 0x49) && in[1] == 0x8b && to_first) return true;  // mov rdi, …
    if ((in[0] & 0xfc) == 0x48 && in[1] == 0x8d && to_first) return true;            // lea rdi, …
    if ((in[0] == 0x48 || in[0] == 0x4c) && in[1] == 0x89 && (in[2] & 0xc7) == 0xc7) return true;
  }
  return false;
}

// Goes through the code of a file, which calls a function by its distance, or by the slot that holds its
// address, itself or in a procedure linkage table (whose names begin with .plt).
class LaunchSearch {
 public:
  LaunchSearch(const FunctionPlaces& places, std::set<std::uint64_t> slots)
      : functions_(places.defined), slots_(std::move(slots)) {}

  bool may_launch = false;

  // False where it cannot be read.
  bool search_tables(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size) {
    return search(source, section, at, size, [&](ByteView bytes, std::size_t i, std::uint64_t place) {
      // An entry is 16 bytes from a multiple of 16 on, wherever the jump stands in it.
      if (!is_jump_by_slot(bytes, i)) return;
      functions_.insert(place & ~std::uint64_t{15});
      functions_.insert(place - 2);
    });
  }

  bool search_code(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size) {
    return search(source, section, at, size, [&](ByteView bytes, std::size_t i, std::uint64_t) {
      const unsigned before = bytes.data[i - 1];
      const bool indirect =
          i >= 2 && bytes.data[i - 2] == kIndirect && (before == kCallOfSlot || before == kJumpOfSlot);
      if (indirect || before == kCall || before == kJump)
        may_launch |= !hands_over_something(bytes.data, i - (indirect ? 2 : 1));
      else
        may_launch |= (before & 0xc7) == 0x05;  // by ModRM, what takes its address
    });
  }

 private:
  // Visits each distance to a function or slot, where it stands in `bytes` and in memory.
  template <class Visit>
  bool search(const ByteSource& source, const Section& section, std::uint64_t at, std::uint64_t size,
              const Visit& visit) {
    constexpr std::size_t kBehind = 4;
    Window in(source, kLooksBack + kLaunchesBlock + kBehind, 0);
    for (std::uint64_t begin = 0; begin < size && !may_launch; begin += kLaunchesBlock) {
      const auto before = static_cast<std::size_t>(std::min<std::uint64_t>(begin, kLooksBack));
      const auto rest =
          static_cast<std::size_t>(std::min<std::uint64_t>(size - begin, kLaunchesBlock + kBehind));
      const auto bytes = in.at(at + begin - before, before + rest);
      if (!bytes) return false;
      const std::uint64_t address = section.address + (at + begin - section.offset) - before;
      const Cursor words(*bytes);
      for (std::size_t i = std::max<std::size_t>(before, 1); i + 4 <= bytes->size && !may_launch; ++i) {
        const std::int64_t distance = static_cast<std::int32_t>(words.u32(i));
        if (is_target(address + i + 4 + static_cast<std::uint64_t>(distance))) visit(*bytes, i, address + i);
      }
    }
    return true;
  }

  bool is_target(std::uint64_t place) const {
    return functions_.count(place) != 0 || slots_.count(place) != 0;
  }
  static bool is_jump_by_slot(ByteView bytes, std::size_t i) {
    return i >= 2 && bytes.data[i - 2] == kIndirect && bytes.data[i - 1] == kJumpOfSlot;
  }

  std::set<std::uint64_t> functions_, slots_;
};

}  // namespace

bool may_launch_unregistered(const ByteSource& source, const HostObject& host,
                             const std::vector<Fatbin>& fatbins) {
  if (!host.linked || host.format != HostFormat::elf) return true;
  const auto start = read_bytes(source, 0, std::min<std::uint64_t>(kElfHeaderMost, source.size()));
  const auto header = start ? parse_elf_header(*start) : Result<ElfHeader>(Error{});
  if (!header || !header->is64 || header->machine != kLaunchesX64) return true;
  const auto places = places_of_functions(source, host, launching_functions());
  const auto slots = places ? slots_of(source, host, places->wanted) : std::nullopt;
  if (!slots) return true;
  LaunchSearch search(*places, *slots);
  const auto is_table = [](const Section& section) {
    return section.executable && starts_with(section.name, ".plt");
  };
  const auto is_code = [&](const Section& section) { return section.executable && !is_table(section); };
  const bool whole = visit_host_bytes(source, host, fatbins, is_table,
                                      [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                                        return search.search_tables(source, section, at, size);
                                      }) &&
                     visit_host_bytes(source, host, fatbins, is_code,
                                      [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                                        return search.search_code(source, section, at, size);
                                      });
  return !whole || search.may_launch;
}

}  // namespace archguard::fatbin
