#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "image/builtin_functions.h"
#include "image/cubin.h"
#include "image/cubin_damage.h"
#include "image/image.h"
#include "image/sass.h"
#include "image/symbol_name.h"

namespace archguard {
namespace {

// In the low half of st_info: STT_OBJECT, STT_FUNC, texture and surface references, and what relocatable
// cubins call an object.
constexpr unsigned kElfObject = 1, kElfFunction = 2, kTexture = 10, kSurface = 12, kCudaObject = 13;
// In st_other: STO_CUDA_ENTRY, STO_CUDA_MANAGED, STO_CUDA_SHARED.
constexpr unsigned kKernelMark = 0x10, kManagedMark = 0x4, kSharedMark = 0x40;

struct Symbol {
  std::uint32_t name = 0;
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;  // within the section
  std::uint64_t size = 0;

  unsigned type() const { return info & 0xfU; }
  bool is_function() const { return type() == kElfFunction && section != 0; }
  bool is_wanted_function() const { return type() == kElfFunction && section == 0; }
  // `extern __shared__ int x[]`: the launch gives its size, and nothing defines it. What has one is another
  // file's.
  bool is_dynamic_shared() const {
    return type() == kCudaObject && section == 0 && size == 0 && (other & kSharedMark) != 0;
  }
  bool is_global() const { return info >> 4 != 0; }  // STB_GLOBAL, STB_WEAK
  bool is_weak() const { return info >> 4 == 2; }
  bool is_kernel() const { return is_function() && (other & kKernelMark) != 0; }
  bool is_reference() const { return type() == kTexture || type() == kSurface; }  // in no section
  bool is_object() const { return (type() == kElfObject || type() == kCudaObject) && section != 0; }
};

Symbol parse_symbol(const Cursor& in, std::uint64_t at, bool is64) {
  if (is64)
    return {in.u32(at), in.u8(at + 4), in.u8(at + 5), in.u16(at + 6), in.u64(at + 8), in.u64(at + 16)};
  return {in.u32(at), in.u8(at + 12), in.u8(at + 13), in.u16(at + 14), in.u32(at + 4), in.u32(at + 8)};
}

bool holds_code(const ElfSection& section) {
  return (section.flags & kElfCode) != 0 && section.size != 0;
}

// From sm_100 on a kernel's code has a second form (.nv.capmerc.text.<kernel>), with symbols of its own:
// `link` and `info` of the section name that of the kernel, which shares its name with the other.
constexpr std::uint32_t kSecondCode = 0x70000016;
constexpr std::uint32_t kDebugShared = 0x7000000a;            // .nv_debug.shared: has a size and no bytes
constexpr std::string_view kParametersOf = ".nv.constant0.";  // and a kernel's name
constexpr std::string_view kCodeOf = ".text.";                // and a function's name
constexpr std::string_view kSharedOf = ".nv.shared.";         // and a function's name
constexpr std::uint64_t kSharedBeyondAny = std::uint64_t{1} << 30;

// ptxas puts these in where `-sanitize` is asked for: "$__internal_0_$__cuda_sanitizer_memcheck_global".
constexpr std::string_view kSanitizerFunction = "__cuda_sanitizer_";

// Sections of variables at module scope; `.nv.constant2.<kernel>` and `.nv.shared.<kernel>` are a kernel's
// own. In others no cubin of CUDA 8.0 to 13.5 has an object.
enum class Holds { unasked, nothing, globals, constants, unknown };

Holds what_is_in(std::string_view section) {
  if (section == ".nv.global" || section == ".nv.global.init") return Holds::globals;
  if (section == ".nv.constant3") return Holds::constants;
  for (const char* others : {".nv.constant", ".nv.shared", ".nv_debug.shared", ".nv.local"})
    if (starts_with(section, others)) return Holds::nothing;
  return Holds::unknown;
}

bool are_variables(Holds holds) {
  return holds == Holds::globals || holds == Holds::constants;
}

// The sections of a cubin in memory. Reads of headers are checked once, in open().
class CubinReader {
 public:
  explicit CubinReader(ByteView cubin) : in_(cubin) {}

  Result<ImageKernels> read() {
    ARCHGUARD_CHECK(open());
    ImageKernels code;
    code.relocatable = header_.type != kElfExecutable;
    named_.resize(header_.section_count);
    has_kernel_.resize(header_.section_count);
    holds_.resize(header_.section_count);
    own_.resize(header_.section_count);
    std::vector<ElfSection> tables;
    bool has_machine_code = false;
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (section.type == 0)
        return Error{
            {}, "section " + std::to_string(i) + " of the cubin has no type: its header was lost", {}};
      // By its name, as nvdisasm goes: NVIDIA's own assembler "nvasm_internal" gives it the type of data.
      if ((section.type == kElfCompat || section.type == kElfProgramBits) &&
          name_of(section) == kCompatSection) {
        ARCHGUARD_CHECK(look_at(section));
        apply_compat(in_.part(section.offset, section.size), cubin_);
      }
      ARCHGUARD_CHECK(check_damage(i, section));
      if (section.type == kKernelInfo) add_parameters(section, code);
      add_own(i, section);
      if (code.relocatable) add_shared(section);
      if (section.type == kElfNoBits || section.type >= kElfMachineTypes) continue;
      if (!in_.holds(section.offset, section.size))
        return Error{{},
                     "section " + std::to_string(i) + " of the cubin needs " +
                         count_of(section.size, "byte") + " at " + hex(section.offset) + ", " +
                         std::to_string(in_.size() - std::min<std::uint64_t>(in_.size(), section.offset)) +
                         " remain",
                     {}};
      has_machine_code |= holds_code(section);
      if (section.type == kElfSymbols) tables.push_back(section);
      if (section.type == kElfNote && name_of(section) == kToolkitInfoSection) {
        ARCHGUARD_CHECK(look_at(section));
        apply_toolkit_info(in_.part(section.offset, section.size), cubin_);
      }
    }
    for (const ElfSection& table : tables) ARCHGUARD_CHECK(add_symbols(table, code));
    if (code.relocatable) finish_shared_uses(code.names);
    if (tables.size() == 1 && !printing_symbols_.empty()) judge_printing_kernels(code.kernels);
    if (tables.empty()) return Error{{}, "cubin has no symbol table that names its kernels", {}};
    if (has_machine_code && header_.type == kElfExecutable) ARCHGUARD_CHECK(check_code_is_named());
    ARCHGUARD_CHECK(check_parameters());
    if (header_.type == kElfExecutable) ARCHGUARD_CHECK(check_variables_are_named());
    if (has_machine_code) ARCHGUARD_CHECK(check_instructions());
    code.toolkit = cubin_.toolkit;
    code.cubin_abi = cubin_.abi;
    code.archs = archs_of(cubin_);
    code.is32 = !header_.is64;
    if (cubin_.refused_flags != 0)
      return Error{
          {},
          "cubin has e_flags " + hex(cubin_.refused_flags) + ", with which a driver of CUDA 13.0 refused one",
          {}};
    if (cubin_.unknown_flags != 0)
      code.warnings.push_back(
          {{}, "cubin has e_flags " + hex(cubin_.unknown_flags) + ", whose meaning is not known", {}});
    if (is_sanitized_)
      code.warnings.push_back(
          {{},
           "SASS is instrumented for compute-sanitizer; what it does without that is undefined",
           "build it without nvcc's -fdevice-sanitize or -sanitize, or run it under compute-sanitizer "
           "alone"});
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(code.kernels.begin(), code.kernels.end(), by_name);
    std::sort(code.variables.begin(), code.variables.end(), by_name);
    return code;
  }

 private:
  Status open() {
    const ByteView start = in_.part(0, std::min(in_.size(), kElfHeaderMost));
    if (!has_elf_magic(start)) return Error{{}, "cubin has no ELF magic", {}};
    ARCHGUARD_TRY(header, parse_elf_header(start));
    header_ = header;
    if (header_.machine != kElfMachineCuda)
      return Error{{}, "cubin must be for ELF machine 190, found " + std::to_string(header_.machine), {}};
    cubin_ = identify_cubin(header_);
    if (cubin_.abi == 0)
      return Error{{},
                   "cubin of OS/ABI " + hex(header_.osabi) + ", ABI " + std::to_string(header_.abi_version) +
                       " is of an unknown generation",
                   {}};
    if (header_.type != kElfExecutable && !is_relocatable_cubin(header_.type))
      return Error{{}, "cubin must have ELF type 1, 2 or 65280, found " + std::to_string(header_.type), {}};
    if (header_.sections_offset == 0) return Error{{}, "cubin has no section table", {}};
    if (header_.section_count == 0 || header_.names_index == kElfIndexInSectionZero) {
      ElfHeader one = header_;
      one.section_count = 1;
      ARCHGUARD_CHECK(check_section_table(one, in_.size()));
      apply_section_zero(header_, in_.part(header_.sections_offset, header_.section_size));
    }
    ARCHGUARD_CHECK(check_section_table(header_, in_.size()));
    ARCHGUARD_CHECK(check_program_headers());
    return check_section_names();
  }

  // They stand behind all else in what ptxas writes, where a copy that stopped left zeros. All cubins seen
  // have PT_LOAD and PT_PHDR alone; from 0x60000000 on they are a system's own (System V ABI, "Program
  // Header").
  Status check_program_headers() const {
    constexpr std::uint32_t kLoad = 1, kOwn = 6, kOfSystems = 0x60000000;
    if (header_.segments_offset == 0) return Done{};
    for (std::uint64_t i = 0; i < header_.segment_count; ++i) {
      const std::uint64_t at = header_.segments_offset + i * header_.segment_size;
      const std::uint32_t type = in_.holds(at, 4) ? in_.u32(at) : 0;
      if (type == kLoad || type == kOwn || type >= kOfSystems) continue;
      return Error{
          {}, "program header " + std::to_string(i) + " of the cubin was overwritten or is not there", {}};
    }
    return Done{};
  }

  // Of an e_shoff or e_shnum that is wrong no sound table of names is left: each cubin of CUDA 8.0 to 13.5
  // has one.
  Status check_section_names() const {
    const bool any = header_.names_index != 0 && header_.names_index < header_.section_count;
    const ElfSection names = any ? section_at(header_.names_index) : ElfSection{};
    if (names.type == kElfStrings && name_of(names) == ".shstrtab") return Done{};
    return Error{{},
                 "section table of the cubin is damaged: of its " +
                     count_of(header_.section_count, "section") + ", " + std::to_string(header_.names_index) +
                     " is no table of their names",
                 {}};
  }

  ElfSection section_at(std::uint64_t index) const {
    return parse_elf_section(
        header_, in_.part(header_.sections_offset + index * header_.section_size, header_.section_size));
  }

  // As much of it as is compared with names that are known: sections may share one that is as long as the
  // file, and the table of names may have no end.
  std::string_view name_of(const ElfSection& section) const {
    constexpr std::uint64_t kEnough = 32;
    static_assert(kParametersOf.size() < kEnough && std::string_view(kToolkitInfoSection).size() < kEnough);
    const Cursor names = section_names();
    const std::uint64_t remain = names.size() - std::min<std::uint64_t>(names.size(), section.name);
    const std::string_view text = names.part(section.name, std::min(remain, kEnough)).text();
    const auto end = text.find('\0');
    return end == std::string_view::npos && text.size() < kEnough ? std::string_view{} : text.substr(0, end);
  }

  // For the message that ends the reading.
  std::string whole_name_of(const ElfSection& section) const {
    return std::string(section_names().c_string(section.name));
  }

  Cursor section_names() const {
    if (header_.names_index >= header_.section_count) return Cursor({});
    const ElfSection names = section_at(header_.names_index);
    return Cursor(in_.part(names.offset, names.size));
  }

  // Before all of a section is read. In a sound cubin each of them has its own bytes; in another, a few that
  // many of them share would cost without end.
  Status look_at(const ElfSection& section) {
    looked_at_ += in_.part(section.offset, section.size).size;
    if (looked_at_ > in_.size()) return Error{{}, "sections of the cubin overlap", {}};
    return Done{};
  }

  std::uint64_t symbol_size() const { return header_.is64 ? 24 : 16; }

  Status add_symbols(const ElfSection& table, ImageKernels& code) {
    const std::uint64_t stride = symbol_size();
    if (table.size % stride != 0)
      return Error{{},
                   "symbol table of the cubin must be a multiple of " + std::to_string(stride) +
                       " bytes, found " + std::to_string(table.size),
                   {}};
    if (table.entry_size != stride)
      return Error{{},
                   "symbols of the cubin must have " + std::to_string(stride) + " bytes, found " +
                       std::to_string(table.entry_size),
                   {}};
    if (table.link >= header_.section_count || section_at(table.link).type != kElfStrings)
      return Error{{}, "symbol table of the cubin names no string table", {}};
    ARCHGUARD_CHECK(look_at(table));
    ARCHGUARD_CHECK(take_strings(table.link));
    const Cursor symbols(in_.part(table.offset, table.size)), names(strings_);
    for (std::uint64_t at = 0; at < table.size; at += stride) {
      if (at != 0 && are_zeros(symbols.part(at, stride)))
        return Error{{},
                     "symbol " + std::to_string(at / stride) +
                         " of the cubin is zeros: its symbol table was overwritten",
                     {}};
      const Symbol symbol = parse_symbol(symbols, at, header_.is64);
      if (symbol.section >= header_.section_count && symbol.section < kElfReservedSections)
        return Error{{},
                     "symbol " + std::to_string(at / stride) + " of the cubin is in section " +
                         std::to_string(symbol.section) + " of " + std::to_string(header_.section_count),
                     {}};
      if (symbol.name != 0 && symbol.name >= strings_.size)
        return Error{{}, "symbol " + std::to_string(at / stride) + " of the cubin has no name", {}};
      if (symbol.is_function() && symbol.section < header_.section_count) named_[symbol.section] = true;
      code.functions |= symbol.is_function() && !symbol.is_kernel();
      if (code.relocatable && symbol.is_global() && !symbol.is_kernel())
        add_link_name(names, symbol, code.names);
      if (symbol.is_wanted_function() && is_printing_function(start_of_name(names, symbol)))
        printing_symbols_.insert(static_cast<std::uint32_t>(at / stride));
      if (!code.relocatable && symbol.is_wanted_function())
        add_call(code.newest_call, start_of_name(names, symbol));
      if (symbol.type() == kElfFunction && !symbol.is_kernel())
        is_sanitized_ |= start_of_name(names, symbol).find(kSanitizerFunction) != std::string_view::npos;
      const Holds holds = symbol.is_object() ? holds_of(symbol.section) : Holds::nothing;
      if (holds == Holds::unknown)
        return Error{{},
                     "symbol " + std::to_string(at / stride) + " of the cubin is a variable in section '" +
                         std::string(name_of(section_at(symbol.section))) + "', which holds none",
                     {}};
      if (are_variables(holds) && symbol.section < header_.section_count) named_[symbol.section] = true;
      if (!symbol.is_kernel() && !are_variables(holds) && !symbol.is_reference()) {
        const bool is_found_by_name = symbol.is_global() || symbol.is_wanted_function();
        if (is_found_by_name && start_of_name(names, symbol).empty())
          return Error{{}, "symbol " + std::to_string(at / stride) + " of the cubin has no name", {}};
        continue;
      }
      const std::string_view name = names.c_string(symbol.name);
      const char* what = symbol.is_kernel() ? "kernel" : "variable";
      if (name.empty())
        return Error{{}, what + (" symbol " + std::to_string(at / stride)) + " of the cubin has no name", {}};
      names_size_ += name.size();
      if (names_size_ > in_.size())  // in a sound file each name has its own bytes
        return Error{{}, what + std::string(" names of the cubin overlap"), {}};
      if (symbol.is_reference()) {
        if (host_can_name(name)) code.variables.push_back({std::string(name), VariableSpace::reference, 0});
        continue;
      }
      if (are_variables(holds)) {
        add_variable(name, symbol, holds, code.variables);
        continue;
      }
      ARCHGUARD_CHECK(take_section_of(name, symbol));
      if (code.relocatable) add_shared_use(name, symbol, true);
      const ByteView machine_code = code_of(symbol);
      if (header_.type == kElfExecutable && are_zeros(machine_code))
        return Error{{}, "kernel '" + std::string(name) + "' of the cubin has no machine code", {}};
      code_size_ += machine_code.size;
      if (code_size_ > in_.size()) return Error{{}, "kernels of the cubin overlap", {}};
      std::uint64_t own = symbol.section < own_.size() ? std::exchange(own_[symbol.section], 0) : 0;
      if (const auto second = second_.find(symbol.name); second != second_.end())
        own += std::exchange(second->second, 0);
      code.kernels.push_back(
          {std::string(name), state_of_sass(machine_code, cubin_.sm), machine_code.size, own});
      if (symbol.value == 0) kernel_code_.push_back({code.kernels.size() - 1, symbol.section, machine_code});
    }
    return Done{};
  }

  // Kernels that call nothing but printf and assert: only their attributes tell which functions they call.
  void judge_printing_kernels(std::vector<Kernel>& kernels) const {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> calls_by_section;
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (section.type != kKernelInfo || !starts_with(name_of(section), kKernelInfoSection)) continue;
      DriverCalls calls = driver_calls_in(in_.part(section.offset, section.size));
      const auto prints = [&](std::uint32_t symbol) { return printing_symbols_.count(symbol) != 0; };
      if (!calls.symbols.empty() && std::all_of(calls.symbols.begin(), calls.symbols.end(), prints))
        calls_by_section[section.info] = std::move(calls.offsets);
    }
    add_relocated_calls(calls_by_section);
    for (const KernelCode& kernel : kernel_code_)
      if (const auto calls = calls_by_section.find(kernel.section); calls != calls_by_section.end())
        kernels[kernel.index].state = state_of_sass(kernel.code, cubin_.sm, &calls->second);
  }

  // CUDA 11.8 and nvlink leave the call's address to a relocation of the instruction.
  void add_relocated_calls(
      std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>& calls_by_section) const {
    for (std::uint64_t i = 1; i < header_.section_count && header_.is64; ++i) {
      const ElfSection section = section_at(i);
      const bool with_addends = section.type == kElfRelocationsWithAddends;
      if ((section.type != kElfRelocations && !with_addends) || !in_.holds(section.offset, section.size))
        continue;
      const auto calls = calls_by_section.find(section.info);
      if (calls == calls_by_section.end()) continue;
      const Cursor relocations(in_.part(section.offset, section.size));
      const std::uint64_t stride = with_addends ? 24 : 16;
      for (std::uint64_t at = 0; relocations.holds(at, stride); at += stride)
        if (printing_symbols_.count(static_cast<std::uint32_t>(relocations.u64(at + 8) >> 32)) != 0)
          calls->second.push_back(static_cast<std::uint32_t>(relocations.u64(at)));
      std::sort(calls->second.begin(), calls->second.end());
    }
  }

  // Sections of code, and those that belong to one: parameters, relocations, attributes. In an unsound cubin
  // they may overlap, and what is more than it has is nobody's.
  void add_own(std::uint64_t index, const ElfSection& section) {
    if (section.type == 0 || section.type == kElfNoBits || section.type == kElfSymbols ||
        section.type == kDebugShared)
      return;
    if (section.type == kSecondCode) return add_second_code(section);
    const std::uint64_t of = holds_code(section) ? index : section.info;
    if (of == 0 || of >= own_.size() || !in_.holds(section.offset, section.size)) return;
    if (section.size > in_.size() - own_size_) return;
    own_size_ += section.size;
    own_[of] += section.size;
  }

  void add_second_code(const ElfSection& section) {
    if (section.link >= own_.size() || !in_.holds(section.offset, section.size)) return;
    const ElfSection symbols = section_at(section.link);
    const std::uint64_t stride = header_.is64 ? 24 : 16, at = section.info * stride;
    if (at >= symbols.size || !in_.holds(symbols.offset, symbols.size) || symbols.size - at < stride) return;
    if (section.size > in_.size() - own_size_) return;
    own_size_ += section.size;
    second_[in_.u32(symbols.offset + at)] += section.size;
  }

  Status check_damage(std::uint64_t index, const ElfSection& section) {
    if (!has_type_of_its_name(name_of(section), section.type))
      return Error{{},
                   "section '" + whole_name_of(section) + "' of the cubin is of type " + hex(section.type) +
                       ", which none of that name has",
                   {}};
    if (section.size == 0) return Done{};
    if (name_of(section).empty())
      return Error{{}, "section " + std::to_string(index) + " of the cubin has no name", {}};
    const bool second = section.type == kSecondCode;
    if (second || is_table_of_entries(name_of(section))) {
      ARCHGUARD_CHECK(look_at(section));
      const ByteView bytes = in_.part(section.offset, section.size);
      const auto at =
          second ? find_broken_second_code(bytes) : find_broken_entry(name_of(section), bytes);
      if (at)
        return Error{
            {}, "section '" + whole_name_of(section) + "' of the cubin was overwritten at " + hex(*at), {}};
    }
    if (section.type == kElfNote) {  // it begins with the length of a name, which none lacks
      const Cursor note(in_.part(section.offset, section.size));
      if (!note.holds(0, 4) || note.u32(0) == 0)
        return Error{
            {}, "section '" + whole_name_of(section) + "' of the cubin was overwritten by zeros at 0x0", {}};
    }
    const bool relocations = section.type == kElfRelocations || section.type == kElfRelocationsWithAddends;
    if (section.type != kKernelInfo && !relocations) return Done{};
    ARCHGUARD_CHECK(look_at(section));
    const ByteView bytes = in_.part(section.offset, section.size);
    const auto at =
        relocations ? find_broken_relocation(bytes, relocations_of(section)) : find_broken_attribute(bytes);
    if (!at) return Done{};
    return Error{{},
                 "section '" + whole_name_of(section) + "' of the cubin has " +
                     (relocations ? "no relocation" : "no attribute") + " at " + hex(*at),
                 {}};
  }

  RelocationsOf relocations_of(const ElfSection& section) const {
    RelocationsOf of{section.type, header_.is64, UINT64_MAX, UINT64_MAX};
    const ElfSection table = section.link < header_.section_count ? section_at(section.link) : ElfSection();
    if (table.type == kElfSymbols) of.symbols = table.size / symbol_size();
    if (section.info != 0 && section.info < header_.section_count) of.size = section_at(section.info).size;
    return of;
  }

  void add_parameters(const ElfSection& section, ImageKernels& code) const {
    if (!starts_with(name_of(section), kKernelInfoSection)) return;
    code.parameters = std::max(code.parameters, parameters_in(in_.part(section.offset, section.size)));
  }

  // Up to the last NUL, so that each text in it has an end.
  Status take_strings(std::uint32_t index) {
    if (strings_index_ == index) return Done{};
    strings_index_ = index;
    const ElfSection section = section_at(index);
    ARCHGUARD_CHECK(look_at(section));
    strings_ = in_.part(section.offset, section.size);
    strings_.size = strings_.text().rfind('\0') + 1;  // 0 where there is none
    return Done{};
  }

  // Common variables (SHN_COMMON) are in no section.
  Holds holds_of(std::uint16_t section) {
    if (section >= header_.section_count) return Holds::globals;
    Holds& holds = holds_[section];
    if (holds == Holds::unasked) holds = what_is_in(name_of(section_at(section)));
    return holds;
  }

  static void add_variable(std::string_view name, const Symbol& symbol, Holds holds,
                           std::vector<DeviceVariable>& variables) {
    if (!host_can_name(name)) return;
    const VariableSpace space = holds == Holds::constants            ? VariableSpace::constant
                                : (symbol.other & kManagedMark) != 0 ? VariableSpace::managed
                                                                     : VariableSpace::device;
    variables.push_back({std::string(name), space, symbol.size});
  }

  // A cubin that is loaded as it is names all its variables.
  Status check_variables_are_named() const {
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (section.size != 0 && !named_[i] && are_variables(what_is_in(name_of(section))))
        return Error{
            {},
            "section '" + whole_name_of(section) + "' of the cubin holds variables that no symbol names",
            {}};
    }
    return Done{};
  }

  // Names of symbols that are no kernels may overlap: of those past the size of the cubin only so much is
  // read as tells whose they are.
  void add_link_name(const Cursor& names, const Symbol& symbol, LinkNames& link) {
    std::string_view name = start_of_name(names, symbol);
    if (link_names_size_ <= in_.size()) name = names.c_string(symbol.name);
    link_names_size_ += name.size();
    link.whole = link.whole && link_names_size_ <= in_.size();
    if (symbol.section == 0) {
      // Weak ones that are no functions are what ptxas brings along: __UDT, .nv.reservedSmem.offset0.
      if (symbol.is_wanted_function() || (!symbol.is_weak() && !symbol.is_dynamic_shared()))
        add_wanted(link, name, false);
    } else {
      add_defined(link, name, !symbol.is_weak() && is_code_or_variable(symbol));
    }
    if (symbol.is_function()) add_shared_use(name, symbol, false);
  }

  bool is_code_or_variable(const Symbol& symbol) {
    if (symbol.section >= header_.section_count) return false;
    return symbol.is_function() || (symbol.is_object() && are_variables(holds_of(symbol.section)));
  }

  // `.nv.shared.<kernel>`, of the section of its code, and `.nv_debug.shared`, of all functions.
  void add_shared(const ElfSection& section) {
    if (!starts_with(name_of(section), kSharedOf) && section.type != kDebugShared) return;
    shared_[section.info] += std::min(section.size, kSharedBeyondAny);
    all_shared_ += std::min(section.size, kSharedBeyondAny);
  }

  void add_shared_use(std::string_view name, const Symbol& symbol, bool kernel) {
    if (all_shared_ == 0) return;
    const auto shared = shared_.find(symbol.section);
    SharedUse use;
    use.name = name;
    use.kernel = kernel;
    use.own = use.least = use.most = shared == shared_.end() ? 0 : shared->second;
    uses_.push_back(std::move(use));
  }

  // Which function calls which is not read: each may call all, and what the cubin wants of others.
  void finish_shared_uses(LinkNames& link) {
    link.tells_needs = false;
    if (all_shared_ == 0) return;
    std::uint64_t of_kernels = 0;
    for (SharedUse& use : uses_) {
      of_kernels += use.kernel ? use.own : 0;
      use.calls = link.wanted;
    }
    link.shared_of_functions = all_shared_ - std::min(of_kernels, all_shared_);
    link.shared = std::make_shared<const std::vector<SharedUse>>(std::move(uses_));
  }

  // Cut at its NUL.
  static std::string_view start_of_name(const Cursor& names, const Symbol& symbol) {
    constexpr std::uint64_t kEnough = 64;
    const std::uint64_t remain = names.size() - std::min<std::uint64_t>(names.size(), symbol.name);
    const std::string_view text = names.part(symbol.name, std::min(remain, kEnough)).text();
    return text.substr(0, text.find('\0'));
  }

  // The code of each kernel stands in a section of its own, which is called by its name: so it is in cubins
  // of CUDA 8.0 to 13.5 (144,000 kernels), and no two kernels have one name.
  Status take_section_of(std::string_view name, const Symbol& symbol) {
    if (symbol.section < header_.section_count) {
      has_kernel_[symbol.section] = true;
      const std::string own = std::string(kCodeOf).append(name).append(1, '\0');
      if (section_names().part(section_at(symbol.section).name, own.size()).text() == own) return Done{};
    }
    return Error{{},
                 "kernel '" + std::string(name) + "' of the cubin is not in a section of its own, '" +
                     std::string(kCodeOf).append(name) + "'",
                 {}};
  }

  // Kernels alone have parameters in constant memory, also where nothing but a bit tells one from a device
  // function: in the same cubins each such section belongs to a kernel.
  Status check_parameters() const {
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (!starts_with(name_of(section), kParametersOf)) continue;
      if (section.info < header_.section_count && has_kernel_[section.info]) continue;
      return Error{{},
                   "cubin holds parameters of the kernel '" +
                       whole_name_of(section).substr(kParametersOf.size()) + "' and no such kernel",
                   {}};
    }
    return Done{};
  }

  // Does a function stand for all the code of a cubin that is loaded as it is?
  Status check_code_is_named() const {
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (holds_code(section) && section.type != kElfNoBits && !named_[i])
        return Error{
            {}, "section '" + whole_name_of(section) + "' of the cubin holds code that no symbol names", {}};
    }
    return Done{};
  }

  // Kernels and what they call: an instruction of zeros is none.
  Status check_instructions() {
    for (std::uint64_t i = 1; i < header_.section_count; ++i) {
      const ElfSection section = section_at(i);
      if (!holds_code(section) || section.type == kElfNoBits || section.type >= kElfMachineTypes) continue;
      ARCHGUARD_CHECK(look_at(section));
      if (const auto at = find_zero_instruction(in_.part(section.offset, section.size), cubin_.sm))
        return Error{{},
                     "section '" + whole_name_of(section) +
                         "' of the cubin has zeros for an instruction at " + hex(*at),
                     {}};
    }
    return Done{};
  }

  // The machine code of a kernel; empty where the symbol points outside of its section.
  ByteView code_of(const Symbol& symbol) const {
    if (symbol.section >= header_.section_count) return {};
    const ElfSection section = section_at(symbol.section);
    if (section.type == kElfNoBits) return {};
    return Cursor(in_.part(section.offset, section.size)).part(symbol.value, symbol.size);
  }

  struct KernelCode {  // that begins its section
    std::size_t index;
    std::uint16_t section;
    ByteView code;
  };

  Cursor in_;
  ElfHeader header_;
  CubinIdentity cubin_;
  std::vector<KernelCode> kernel_code_;
  std::vector<bool> named_;         // by section: a function is in it
  std::vector<bool> has_kernel_;    // by section
  std::vector<Holds> holds_;        // by section
  std::vector<std::uint64_t> own_;  // bytes of each section of code, and of those that belong to it
  std::uint64_t own_size_ = 0;      // of all of them
  std::unordered_map<std::uint32_t, std::uint64_t> second_;  // by name: bytes of the second form of its code
  std::unordered_set<std::uint32_t> printing_symbols_;       // vprintf, __assertfail
  std::uint64_t names_size_ = 0, code_size_ = 0;             // of all symbols' names and kernels' code
  std::uint64_t link_names_size_ = 0;
  std::uint64_t looked_at_ = 0;                              // bytes of sections that were read whole
  std::unordered_map<std::uint64_t, std::uint64_t> shared_;  // by section of code: bytes of shared memory
  std::uint64_t all_shared_ = 0;
  std::vector<SharedUse> uses_;
  bool is_sanitized_ = false;
  std::uint64_t strings_index_ = 0;
  ByteView strings_;  // of section strings_index_
};

}  // namespace

Result<ImageKernels> read_cubin(ByteView cubin) {
  return CubinReader(cubin).read();
}

}  // namespace archguard
