#include "fatbin/packed_fatbins.h"

#include <algorithm>

namespace archguard::fatbin {
namespace {

// A fat binary: a byte of these, offset, size, its section where it is another than the last one's, the
// number of its entries, and these. All numbers have 7 bits a byte, the least first; the bit 0x80 says that
// more follow.
constexpr unsigned kIsRelocatable = 1, kIsInData = 2, kIsBare = 4, kOtherSection = 8, kIsOffload = 16,
                   kIsForRuntime = 32;

// An entry: a byte of these, the kind and the compression, then what they say.
constexpr unsigned kHasIsa = 1, kHasTexts = 2, kHasOthers = 4, kIsObfuscated = 8, kIsOptix = 16,
                   kIsOwnArch = 32;
constexpr unsigned kKindShift = 0, kCompressionShift = 4;

constexpr std::size_t kBuffer = std::size_t{64} << 10;

unsigned bit(bool is, unsigned value) {
  return is ? value : 0;
}

}  // namespace

void PackedFatbins::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) memory_.push_back(static_cast<std::uint8_t>(number | 0x80));
  memory_.push_back(static_cast<std::uint8_t>(number));
}

void PackedFatbins::put(const std::string& text) {
  put(text.size());
  memory_.insert(memory_.end(), text.begin(), text.end());
}

// Offsets count from the end of the entry before, `at`.
void PackedFatbins::put(const FatbinEntry& entry, std::uint64_t& at) {
  // A new field, and this fails to compile: pack it below, and read it in Reader::entry().
  [[maybe_unused]] const auto& [offset, kind, kind_code, arch, or_archs, ptx_isa, compression, obfuscated,
                                flags, unknown, payload_offset, stored_size, uncompressed_size, identifier,
                                optix, own_arch, ltoir_version] = entry;
  const bool texts = !entry.unknown.empty() || !entry.identifier.empty();
  put(std::uint64_t{bit(entry.ptx_isa.has_value(), kHasIsa) | bit(texts, kHasTexts) |
                    bit(!entry.or_archs.empty(), kHasOthers) | bit(entry.obfuscated, kIsObfuscated) |
                    bit(entry.optix, kIsOptix) | bit(entry.own_arch, kIsOwnArch)});
  put(static_cast<std::uint64_t>(entry.kind) << kKindShift | static_cast<std::uint64_t>(entry.compression)
                                                                 << kCompressionShift);
  put(entry.kind_code);
  const auto put_arch = [&](const Arch& each) {
    put(static_cast<std::uint64_t>(each.number));
    put(static_cast<std::uint64_t>(each.suffix));
  };
  put_arch(entry.arch);
  put(entry.flags);
  put(entry.offset - at);  // may wrap around: numbers have 64 bits
  put(entry.payload_offset - entry.offset);
  put(entry.stored_size);
  put(entry.uncompressed_size);
  if (entry.ptx_isa) {
    put(static_cast<std::uint64_t>(entry.ptx_isa->major));
    put(static_cast<std::uint64_t>(entry.ptx_isa->minor));
  }
  if (entry.kind == EntryKind::ltoir) put(entry.ltoir_version);
  if (texts) {
    put(entry.unknown);
    put(entry.identifier);
  }
  if (!entry.or_archs.empty()) {
    put(entry.or_archs.size());
    for (const Arch& other : entry.or_archs) put_arch(other);
  }
  at = entry.payload_offset + entry.stored_size;
}

std::uint64_t PackedFatbins::begin_run() {
  section_.clear();
  section_offset_ = 0;
  return spilled_ + memory_.size();
}

void PackedFatbins::add(const Fatbin& fatbin) {
  const bool other = fatbin.section != section_ || fatbin.section_offset != section_offset_;
  put(std::uint64_t{bit(fatbin.relocatable, kIsRelocatable) | bit(fatbin.in_data, kIsInData) |
                    bit(fatbin.bare, kIsBare) | bit(other, kOtherSection) | bit(fatbin.offload, kIsOffload) |
                    bit(fatbin.for_runtime, kIsForRuntime)});
  put(fatbin.offset);
  put(fatbin.size);
  if (other) {
    put(section_ = fatbin.section);
    put(section_offset_ = fatbin.section_offset);
  }
  put(fatbin.entries.size());
  std::uint64_t at = fatbin.offset;
  for (const FatbinEntry& entry : fatbin.entries) {
    put(entry, at);
    if (memory_.size() >= most_) spill();
  }
  if (memory_.size() >= most_) spill();
}

void PackedFatbins::spill() {
  if (stays_) return;
  if (!file_) {
    auto file = TemporaryFile::create();
    if (file) file_.emplace(std::move(*file));
  }
  stays_ = !file_ || !file_->append(memory_);
  if (stays_) return;
  spilled_ += memory_.size();
  memory_.clear();
}

void PackedFatbins::Reader::fill() {
  buffer_.clear();
  used_ = 0;
  if (failed_) return;
  if (at_ < packed_.spilled_) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, packed_.spilled_ - at_));
    auto bytes = read_bytes(*packed_.file_, at_, count);
    if (bytes)
      buffer_ = std::move(*bytes);
    else
      failed_ = bytes.error();
  } else {
    const auto begin = static_cast<std::size_t>(at_ - packed_.spilled_);
    const std::size_t count = std::min(kBuffer, packed_.memory_.size() - begin);
    buffer_.assign(packed_.memory_.data() + begin, packed_.memory_.data() + begin + count);
  }
  at_ += buffer_.size();
  if (buffer_.empty() && !failed_) failed_ = Error{{}, "no fat binary is left", {}};
}

std::uint8_t PackedFatbins::Reader::byte() {
  if (used_ == buffer_.size()) fill();
  return buffer_.empty() ? 0 : buffer_[used_++];
}

std::uint64_t PackedFatbins::Reader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t next = byte();
    value |= (next & 0x7f) << shift;
    if (next < 0x80) break;
  }
  return value;
}

std::string PackedFatbins::Reader::text() {
  std::string text;
  for (std::uint64_t left = number(); left != 0 && !failed_; --left) text += static_cast<char>(byte());
  return text;
}

FatbinEntry PackedFatbins::Reader::entry(std::uint64_t& at) {
  const auto arch = [&] {
    Arch read;
    read.number = static_cast<int>(number());
    read.suffix = static_cast<Suffix>(number());
    return read;
  };
  FatbinEntry entry;
  const std::uint64_t what = number(), kinds = number();
  entry.kind = static_cast<EntryKind>(kinds >> kKindShift & 0xf);
  entry.compression = static_cast<Compression>(kinds >> kCompressionShift & 0xf);
  entry.obfuscated = (what & kIsObfuscated) != 0;
  entry.optix = (what & kIsOptix) != 0;
  entry.own_arch = (what & kIsOwnArch) != 0;
  entry.kind_code = static_cast<std::uint16_t>(number());
  entry.arch = arch();
  entry.flags = number();
  entry.offset = at + number();
  entry.payload_offset = entry.offset + number();
  entry.stored_size = number();
  entry.uncompressed_size = number();
  if ((what & kHasIsa) != 0) {
    entry.ptx_isa.emplace();
    entry.ptx_isa->major = static_cast<int>(number());
    entry.ptx_isa->minor = static_cast<int>(number());
  }
  if (entry.kind == EntryKind::ltoir) entry.ltoir_version = static_cast<std::uint16_t>(number());
  if ((what & kHasTexts) != 0) {
    entry.unknown = text();
    entry.identifier = text();
  }
  if ((what & kHasOthers) != 0)
    for (std::uint64_t left = number(); left != 0 && !failed_; --left) entry.or_archs.push_back(arch());
  at = entry.payload_offset + entry.stored_size;
  return entry;
}

Result<Fatbin> PackedFatbins::Reader::next() {
  Fatbin fatbin;
  const std::uint64_t what = number();
  fatbin.relocatable = (what & kIsRelocatable) != 0;
  fatbin.in_data = (what & kIsInData) != 0;
  fatbin.bare = (what & kIsBare) != 0;
  fatbin.offload = (what & kIsOffload) != 0;
  fatbin.for_runtime = (what & kIsForRuntime) != 0;
  fatbin.offset = number();
  fatbin.size = number();
  if ((what & kOtherSection) != 0) {
    section_ = text();
    section_offset_ = number();
  }
  fatbin.section = section_;
  fatbin.section_offset = section_offset_;
  std::uint64_t at = fatbin.offset;
  for (std::uint64_t left = number(); left != 0 && !failed_; --left) fatbin.entries.push_back(entry(at));
  if (failed_) return *failed_;
  return fatbin;
}

}  // namespace archguard::fatbin
