#include "image/cubin.h"

#include "base/text.h"
#include "compat/toolkit.h"

namespace archguard {
namespace {

// Two generations. Toolkits up to 12.9, for sm ≤ 90: OS/ABI 0x33, ABI 7; e_version is the toolkit (124
// is 12.4); e_flags holds sm in bits 0…7, the arch of the PTX it was compiled from in bits 16…23, and at
// 0x800 the marker of `a`, on sm_90. Before there was a suffix that bit had another meaning: all cubins of
// CUDA 8 … 9 for sm_60 and sm_61 have it, and some of NVIDIA's libraries up to 11.8 for sm_50 too. Toolkits
// from 12.8, for sm ≥ 100, and from 13.0 for all: OS/ABI 0x41, ABI 8; e_version 1; sm in bits 8…15.
// There 12.8 and 12.9 mark `a` in e_flags at 0x8, 13.0 in .nv.compat.
constexpr unsigned kOsabi7 = 0x33, kOsabi8 = 0x41;
constexpr std::uint32_t kMarker7 = 0x800, kMarker8 = 0x8;
constexpr std::uint32_t kKnownFlags7 = 0xff0fff, kKnownFlags8 = 0xff00ff0e;
// With one of these a driver of CUDA 13.0 ended in error 300 (in a fat binary), 209 or 999 (tests/truth).
// With others that no cubin has it ran the kernel, but for bit 0 of a cubin by itself, where it crashed.
constexpr std::uint32_t kRefusedFlags8 = 0x00ff0000;
constexpr Version kFirstWithMarkInCompat{13, 0};

// The decimal number at the start of `text`, at most four digits, and what follows it.
std::optional<int> take_number(std::string_view& text) {
  const auto end = text.find_first_not_of("0123456789");
  const auto number = parse_number(text.substr(0, end), 9999);
  if (!number) return std::nullopt;
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
  return static_cast<int>(*number);
}

}  // namespace

std::optional<Version> find_toolkit_release(std::string_view text) {
  constexpr std::string_view kRelease = "Cuda compilation tools, release ";
  const auto at = text.find(kRelease);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kRelease.size());
  const auto major = take_number(text);
  if (!major || !starts_with(text, ".")) return std::nullopt;
  text.remove_prefix(1);
  const auto minor = take_number(text);
  if (!minor) return std::nullopt;
  return Version{*major, *minor};
}

CubinIdentity identify_cubin(const ElfHeader& header) {
  CubinIdentity cubin;
  if (header.osabi == kOsabi7 && header.abi_version == 7) {
    cubin.abi = 7;
    cubin.sm = static_cast<int>(header.flags & 0xff);
    cubin.marked_a = (header.flags & kMarker7) != 0 && cubin.sm >= kFirstArchWithSuffix;
    cubin.unknown_flags = header.flags & ~kKnownFlags7;
    if (header.version >= 10 && header.version <= 999)
      cubin.toolkit = Version{static_cast<int>(header.version / 10), static_cast<int>(header.version % 10)};
  } else if (header.osabi == kOsabi8 && header.abi_version == 8) {
    cubin.abi = 8;
    cubin.sm = static_cast<int>(header.flags >> 8 & 0xff);
    cubin.marked_a = (header.flags & kMarker8) != 0 && cubin.sm >= kFirstArchWithSuffix;
    cubin.unknown_flags = header.flags & ~kKnownFlags8;
    cubin.refused_flags = header.flags & kRefusedFlags8;
  }
  return cubin;
}

// .nv.compat is a run of records: format u8, kind u8, and two bytes of value, which for format 4 are the
// length of what follows. Kind 9 is the mark of `a`: 02 09 01 00; plain and `f` images have 02 09 00 00.
void apply_compat(ByteView section, CubinIdentity& cubin) {
  const Cursor in(section);
  for (std::uint64_t at = 0; in.holds(at, 4);) {
    if (in.u8(at) == 2 && in.u8(at + 1) == 9) {
      cubin.marked_a |= in.u8(at + 2) == 1;
      cubin.not_a |= in.u16(at + 2) == 0;
    }
    at += 4 + (in.u8(at) == 4 ? in.u16(at + 2) : 0U);
  }
}

// .nv.info.<kernel> is a run of such records, too: 03 19 and a u16 are the bytes of its parameters.
std::uint64_t parameters_in(ByteView section) {
  const Cursor in(section);
  for (std::uint64_t at = 0; in.holds(at, 4);) {
    if (in.u8(at) == 3 && in.u8(at + 1) == 0x19) return in.u16(at + 2);
    at += 4 + (in.u8(at) == 4 ? in.u16(at + 2) : 0U);
  }
  return 0;
}

// There, 04 0f is a run of u32: symbols of functions that are none of the cubin's (EIATTR_EXTERNS in NVIDIA's
// cuobjdump); 04 46 likewise the offsets of calls of vprintf, __assertfail and such (EIATTR_SYSCALL_OFFSETS).
DriverCalls driver_calls_in(ByteView section) {
  constexpr std::uint8_t kExterns = 0x0f, kSyscallOffsets = 0x46;
  const Cursor in(section);
  DriverCalls calls;
  for (std::uint64_t at = 0; in.holds(at, 4);) {
    const std::uint64_t size = in.u8(at) == 4 ? in.u16(at + 2) : 0U;
    const std::uint8_t kind = in.u8(at + 1);
    if (size != 0 && (kind == kExterns || kind == kSyscallOffsets))
      for (std::uint64_t i = 0; i + 4 <= size && in.holds(at + 4 + i, 4); i += 4)
        (kind == kExterns ? calls.symbols : calls.offsets).push_back(in.u32(at + 4 + i));
    at += 4 + size;
  }
  std::sort(calls.offsets.begin(), calls.offsets.end());
  return calls;
}

// .note.nv.tkinfo is text in an ELF note, first of the tool that wrote the file: "ptxas", "Cuda compilation
// tools, release 13.0, V13.0.88", "Build cuda_13.0…", "-arch sm_100f -m 64". A linked cubin has the notes of
// its parts behind. NVIDIA's own assembler, "nvasm_internal", writes no `-arch`.
void apply_toolkit_info(ByteView section, CubinIdentity& cubin) {
  constexpr std::string_view kArch = "-arch sm_";
  std::string_view text = section.text();
  if (const auto toolkit = find_toolkit_release(text)) cubin.toolkit = toolkit;
  if (const auto at = text.find(kArch); at != std::string_view::npos) {
    text.remove_prefix(at + kArch.size());
    if (take_number(text) == cubin.sm) cubin.named = text.empty() ? Suffix::none : suffix_of(text[0]);
  }
}

std::vector<Arch> archs_of(const CubinIdentity& cubin) {
  const Arch plain{cubin.sm, Suffix::none}, a{cubin.sm, Suffix::a}, f{cubin.sm, Suffix::f};
  if (cubin.named && *cubin.named != Suffix::none) return {{cubin.sm, *cubin.named}};
  if (cubin.marked_a) return {a};
  if (cubin.named || cubin.abi != 8 || cubin.sm < kFirstArchWithSuffix) return {plain};
  std::vector<Arch> archs{plain};
  // Where 13.0 marks `a`, what is not marked is none.
  const bool marks_elsewhere = cubin.toolkit && *cubin.toolkit < kFirstWithMarkInCompat;
  if (!cubin.not_a && !marks_elsewhere) archs.push_back(a);
  if (may_be_made(f, cubin.toolkit)) archs.push_back(f);
  return archs;
}

}  // namespace archguard
