#include "coverage/container_code.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace archguard {
namespace {

// The driver goes by the container's header. A cubin must be for the arch that stands there; PTX may be for
// an older one.
Result<ImageCode> read_code(const Entry& entry, const ByteSource& source, Inflater& inflater) {
  ARCHGUARD_TRY(bytes, inflater.inflate(entry, source));
  const bool sass = entry.kind == EntryKind::sass;
  auto code = sass ? read_cubin(bytes) : read_ptx(bytes);
  if (!code || !code->arch_number) return code;
  const int own = *code->arch_number, said = entry.arch.number;
  if (own > said || (sass && own != said))
    return Error{{},
                 "its header says " + std::to_string(said) + ", the " + (sass ? "cubin" : "PTX") +
                     " itself sm_" + std::to_string(own),
                 {}};
  return code;
}

std::vector<KernelName> union_of_kernels(const std::vector<Image>& images) {
  std::map<std::string, bool> real_by_name;
  for (const Image& image : images) {
    if (!image.code) continue;
    for (const Kernel& kernel : image.code->kernels)
      real_by_name[kernel.name] |= kernel.state == KernelState::real;
  }
  std::vector<KernelName> kernels;
  kernels.reserve(real_by_name.size());
  for (auto& [name, real] : real_by_name) kernels.push_back({name, real});
  return kernels;
}

}  // namespace

std::uint64_t most_inflated(std::uint64_t file_size) {
  constexpr std::uint64_t kAlways = std::uint64_t{4} << 30, kFactor = 64;
  return file_size > UINT64_MAX / kFactor ? UINT64_MAX : std::max(kAlways, file_size * kFactor);
}

ContainerCode read_container_code(const DeviceObject& object, const Container& container,
                                  const ByteSource& file, Inflater& inflater) {
  ContainerCode code;
  code.container = container;
  code.linked = object.linked;
  const PartSource source = bytes_of(object, file);
  for (const Entry& entry : container.entries) {
    Image image{entry, std::nullopt, entry.unknown};
    const bool has_kernels_to_read =
        entry.kind == EntryKind::sass || entry.kind == EntryKind::ptx || entry.kind == EntryKind::reloc_ptx;
    if (entry.kind == EntryKind::other && image.unknown.empty())
      image.unknown = "image of unknown kind " + hex(entry.kind_code);
    if (has_kernels_to_read && image.unknown.empty()) {
      auto read = read_code(entry, source, inflater);
      if (read) {
        image.code = std::move(read).value();
      } else {
        image.unknown = read.error().what;  // without the offset: like causes are told once
        code.errors.push_back({where(object, container), read.error().text(), read.error().fix});
      }
    } else if (!image.unknown.empty()) {
      code.errors.push_back({where(object, container), "unknown image: " + image.unknown, {}});
    }
    code.images.push_back(std::move(image));
  }
  code.kernels = union_of_kernels(code.images);
  return code;
}

}  // namespace archguard
