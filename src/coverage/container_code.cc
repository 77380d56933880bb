#include "coverage/container_code.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace archguard {
namespace {

Result<ImageCode> read_code(const Entry& entry, const ByteSource& source) {
  ARCHGUARD_TRY(bytes, inflate(entry, source));
  return entry.kind == EntryKind::sass ? read_cubin(bytes) : read_ptx(bytes);
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

ContainerCode read_container_code(const DeviceObject& object, const Container& container,
                                  const ByteSource& file) {
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
      auto read = read_code(entry, source);
      if (read) {
        image.code = std::move(read).value();
      } else {
        image.unknown = read.error().text();
        code.errors.push_back({where(object, container), read.error().text(), read.error().fix});
      }
    } else if (!image.unknown.empty()) {
      code.errors.push_back({where(object, container), image.unknown, {}});
    }
    code.images.push_back(std::move(image));
  }
  code.kernels = union_of_kernels(code.images);
  return code;
}

}  // namespace archguard
