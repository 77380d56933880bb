#include "fatbin/host_pointers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/host_bytes.h"
#include "fatbin/relocations.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

using PointerVisitor = std::function<void(std::uint64_t at, std::uint64_t place)>;

constexpr std::size_t kPointersBlock = std::size_t{1} << 20, kPointersBehind = 47;
constexpr std::size_t kListed = 48;  // bytes of what AddressSanitizer has of a variable
constexpr unsigned kModeMask = 0xc7, kRelativeMode = 0x05;  // of ModRM

// What GCC and linkers make of an address: 8 bytes anywhere; in code 8 bytes that are its distance to the
// global offset table (-mcmodel=large), 4 in a program that is linked for its place in memory, and 4 that are
// its distance to what follows them, behind the byte that says so (what has a constant behind these as well
// takes no address). (System V ABI, AMD64 supplement, "Coding Examples"; Intel 64 Architectures Manual,
// "RIP-Relative Addressing".) Code has an address from a slot of the global offset table as well, which the
// loader fills where other files may have a variable of that name. AddressSanitizer lists all variables, and
// no host code uses one for that.
class PointerSearch {
 public:
  // `places`: some; `visit` outlives this.
  PointerSearch(const std::set<std::uint64_t>& places, LoadedPointers loaded, const ByteSource& source,
                const HostObject& host, bool fixed, const PointerVisitor& visit)
      : source_(source),
        loaded_pointers_(std::move(loaded)),
        fixed_(fixed),
        sanitized_(is_sanitized(source, host)),
        visit_(visit) {
    std::set<std::uint64_t> all = places;
    for (const auto& [slot, place] : loaded_pointers_.slots) all.insert(slot);
    places_.assign(all.begin(), all.end());
    for (const Section* table : global_offset_tables(host)) tables_.push_back(table->address);
    for (const Section& each : host.sections)
      if (sanitized_ && each.loaded && each.has_bytes) loaded_.push_back(&each);
    std::sort(loaded_.begin(), loaded_.end(),
              [](const Section* a, const Section* b) { return a->address < b->address; });
  }

  void visit_loaded() const {
    for (const auto& [at, place] : loaded_pointers_.others)
      if (!sanitized_) visit_(at, place);
  }

  bool search(const Section& section, std::uint64_t at, std::uint64_t size) {
    relocations_ = section.name == ".rela.dyn" ? &section : nullptr;
    Window in(source_, kPointersBlock + kPointersBehind, 0);
    // Each begins one byte earlier than it need, for ModRM, and some bytes behind are looked at.
    for (std::uint64_t begin = 0; begin < size; begin += kPointersBlock - 1) {
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(size - begin, kPointersBlock + kPointersBehind));
      const auto bytes = in.at(at + begin, count);
      if (!bytes) return false;
      search(*bytes, section.address + (at + begin - section.offset), section.executable);
    }
    return true;
  }

 private:
  void search(ByteView bytes, std::uint64_t address, bool code) {
    const Cursor in(bytes);
    for (std::size_t i = 0; i < kPointersBlock && i + 4 <= bytes.size; ++i) {
      const std::uint32_t word = in.u32(i);
      if (code && fixed_) note(address + i, word);
      if (code && i != 0 && (bytes.data[i - 1] & kModeMask) == kRelativeMode) {
        const std::int64_t distance = static_cast<std::int32_t>(word);
        note(address + i, address + i + 4 + static_cast<std::uint64_t>(distance));
      }
      if (i + 8 > bytes.size) continue;
      const std::uint64_t wide = in.u64(i);
      if (is_place(wide) && !is_in_list_of_sanitizer(in, i, address + i)) tell(address + i, wide);
      if (code)
        for (const std::uint64_t table : tables_) note(address + i, table + wide);
    }
  }

  // __asan_global (LLVM, asan_interface_internal.h): u64 its address, its size, that with a red zone, its
  // name, its file, whether it is constructed. A relocation (u64 place, u64 kind, u64 value) may have the
  // address instead.
  bool is_in_list_of_sanitizer(const Cursor& in, std::size_t at, std::uint64_t address) const {
    constexpr std::uint64_t kEntry = 24, kValueAt = 16;
    if (!sanitized_) return false;
    if (relocations_ == nullptr) return is_listed(in.part(at, kListed));
    const std::uint64_t in_table = address - relocations_->address;
    if (in_table % kEntry != kValueAt) return false;
    const auto entry = read_bytes(source_, relocations_->offset + in_table - kValueAt, kEntry);
    const std::uint64_t listed = entry ? Cursor(*entry).u64(0) : 0;
    const auto behind =
        std::upper_bound(loaded_.begin(), loaded_.end(), listed,
                         [](std::uint64_t place, const Section* each) { return place < each->address; });
    if (behind == loaded_.begin()) return false;
    const Section& section = **std::prev(behind);
    const std::uint64_t within = listed - section.address;
    if (within >= section.size || section.size - within < kListed) return false;
    const auto bytes = read_bytes(source_, section.offset + within, kListed);
    return bytes && is_listed(*bytes);
  }

  static bool is_sanitized(const ByteSource& source, const HostObject& host) {
    constexpr const char* kRegister = "__asan_register_globals";
    if (wants_symbol(source, host, kRegister)) return true;
    const auto own = functions_among(source, host, {kRegister});  // -static-libasan
    return own && !own->empty();
  }

  // GCC fills the size up to a multiple of 32, and adds 32 (asan_red_zone_size of its asan.h).
  static bool is_listed(ByteView bytes) {
    constexpr std::uint64_t kZone = 32;
    const Cursor in(bytes);
    const std::uint64_t size = in.u64(8);
    return in.holds(0, kListed) && size != 0 && in.u64(16) == (size + kZone - 1) / kZone * kZone + kZone &&
           in.u64(40) <= 1;
  }

  void note(std::uint64_t at, std::uint64_t place) {
    if (is_place(place)) tell(at, place);
  }

  void tell(std::uint64_t at, std::uint64_t place) {
    const auto slot = loaded_pointers_.slots.find(place);
    visit_(at, slot == loaded_pointers_.slots.end() ? place : slot->second);
  }

  bool is_place(std::uint64_t value) const {
    return value >= places_.front() && value <= places_.back() &&
           std::binary_search(places_.begin(), places_.end(), value);
  }

  const ByteSource& source_;
  const LoadedPointers loaded_pointers_;
  std::vector<std::uint64_t> places_;   // and slots that hold one
  std::vector<const Section*> loaded_;  // by address, where they are asked for
  bool fixed_ = false, sanitized_ = false;
  const Section* relocations_ = nullptr;  // that are searched
  const PointerVisitor& visit_;
  std::vector<std::uint64_t> tables_;  // that may be the global offset table
};

// Other compilers may write addresses down in other ways: clang makes tables of distances from their own
// beginning (-fPIC, of constants: its pass RelLookupTableConverter). Linkers sign as well.
bool is_compiled_by_gcc_alone(const ByteSource& source, const HostObject& host) {
  constexpr std::uint64_t kCommentMost = std::uint64_t{64} << 10;
  const Section* comment = section_of(host, ".comment");
  if (comment == nullptr || !comment->has_bytes || comment->size > kCommentMost) return false;
  const auto bytes = read_bytes(source, comment->offset, comment->size);
  if (!bytes) return false;
  bool any = false;
  for (std::string_view text = ByteView(*bytes).text(); !text.empty();) {
    const std::string_view each = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), each.size() + 1));
    const bool gcc = starts_with(each, "GCC: ");
    if (!gcc && !each.empty() && !starts_with(each, "Linker: ") && !starts_with(each, "mold ")) return false;
    any |= gcc;
  }
  return any;
}

}  // namespace

bool visit_host_pointers(const ByteSource& source, const HostObject& host, const DeviceObject& object,
                         const std::set<std::uint64_t>& places, const PointerVisitor& visit) {
  if (!host.linked || host.format != HostFormat::elf) return false;
  const auto header = read_elf_header(source);
  if (!header || !header->is64 || header->machine != kElfMachineX64 ||
      !is_compiled_by_gcc_alone(source, host))
    return false;
  if (places.empty()) return true;
  auto loaded = find_loaded_pointers(source, host, places);
  if (!loaded) return false;
  PointerSearch pointers(places, std::move(*loaded), source, host, header->type == kElfExecutable, visit);
  pointers.visit_loaded();
  // The loader's own table points to no variable; its numbers may look so.
  const auto may_point = [](const Section& section) { return section.loaded && section.name != ".dynamic"; };
  return visit_host_bytes(source, host, object.fatbins, may_point,
                          [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                            return pointers.search(section, at, size);
                          });
}

}  // namespace archguard::fatbin
