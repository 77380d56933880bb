#include "fatbin/bare_image.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/format.h"
#include "fatbin/optix_ptx.h"
#include "image/cubin.h"
#include "image/ptx_text.h"

namespace archguard::fatbin {
namespace {

// Bytes of a note that are read; ptxas and nvlink write under 1 KiB.
constexpr std::uint64_t kNoteMost = std::uint64_t{64} * 1024;
// Bytes of PTX that are read at first.
constexpr std::uint64_t kPtxHeadFirst = std::uint64_t{64} * 1024;

Fatbin one_entry(FatbinEntry entry, std::uint64_t size) {
  entry.stored_size = entry.uncompressed_size = size;
  Fatbin fatbin;
  fatbin.size = size;
  fatbin.entries.push_back(std::move(entry));
  return fatbin;
}

}  // namespace

Result<Fatbin> read_bare_cubin(const ByteSource& source, const HostObject& object) {
  ARCHGUARD_TRY(header, read_elf_header(source));
  CubinIdentity cubin = identify_cubin(header);
  std::uint64_t looked_at = 0;  // sections that share bytes would let a small file cost without end
  for (const Section& section : object.sections) {
    const bool compat = section.name == kCompatSection;
    if (!section.has_bytes || (!compat && section.name != kToolkitInfoSection)) continue;
    looked_at += std::min(section.size, kNoteMost);
    if (looked_at > source.size()) return Error{{}, "sections of the cubin overlap", {}};
    ARCHGUARD_TRY(bytes, read_bytes(source, section.offset, std::min(section.size, kNoteMost)));
    compat ? apply_compat(bytes, cubin) : apply_toolkit_info(bytes, cubin);
  }
  FatbinEntry entry;
  entry.kind = EntryKind::sass;
  entry.kind_code = kKindElf;
  const std::vector<Arch> archs = archs_of(cubin);
  entry.arch = archs[0];
  entry.or_archs.assign(archs.begin() + 1, archs.end());
  if (cubin.abi == 0)
    entry.unknown = "cubin ABI " + hex(header.osabi) + "/" + std::to_string(header.abi_version);
  else if (cubin.sm < 10)
    entry.unknown = "arch " + std::to_string(cubin.sm);
  return one_entry(std::move(entry), source.size());
}

Result<Fatbin> read_bare_ptx(const ByteSource& source) {
  ARCHGUARD_TRY(bytes, read_bytes(source, 0, std::min(kPtxHeadFirst, source.size())));
  PtxHead head = read_ptx_head(ByteView(bytes).text());
  if (head.target.empty() && bytes.size() < source.size()) {  // comments stand above it
    ARCHGUARD_TRY(more, read_bytes(source, 0, std::min<std::uint64_t>(kPtxHeadMost, source.size())));
    bytes = std::move(more);
    head = read_ptx_head(ByteView(bytes).text());
  }
  const auto version = parse_version(head.version);
  if (!version)
    return Error{{}, "PTX begins without `.version X.Y`, found '" + std::string(head.version) + "'", {}};
  FatbinEntry entry;
  entry.kind = EntryKind::ptx;
  entry.kind_code = kKindPtx;
  entry.ptx_isa = version;
  entry.optix = is_for_optix(source);
  if (const auto arch = parse_ptx_target(head.target))
    entry.arch = *arch;
  else
    entry.unknown = "target '" + std::string(head.target) + "'";
  return one_entry(std::move(entry), source.size());
}

}  // namespace archguard::fatbin
