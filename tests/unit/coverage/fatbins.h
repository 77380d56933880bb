#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coverage/fatbin_code.h"
#include "device/device.h"

// Fat binaries and devices in a line each, for the tests of verdicts.
namespace archguard::test {

inline Device device(const std::string& capability, const std::string& driver_cuda = {}) {
  Device device;
  device.name = "GPU";
  device.capability = parse_capability(capability);
  if (!driver_cuda.empty()) device.driver_cuda = parse_version(driver_cuda);
  device.origin = "test";
  return device;
}

using Kernels = std::vector<std::pair<std::string, KernelState>>;
inline const Kernels kOneKernel{{"k", KernelState::real}};

inline Image image(EntryKind kind, const std::string& arch, const Kernels& kernels) {
  Image image;
  image.entry.kind = kind;
  image.entry.kind_code = kind == EntryKind::ptx ? 1 : kind == EntryKind::sass ? 2 : 8;
  image.entry.arch = *parse_arch(arch);
  if (kind != EntryKind::ltoir) {
    image.code.emplace();
    for (const auto& [name, state] : kernels) image.code->kernels.push_back({name, state});
  }
  return image;
}

inline Image sass(const std::string& arch, const Kernels& kernels = kOneKernel) {
  return image(EntryKind::sass, arch, kernels);
}

inline Image ptx(const std::string& arch, const std::string& isa, const Kernels& kernels = kOneKernel) {
  Image made = image(EntryKind::ptx, arch, kernels);
  made.entry.ptx_isa = parse_version(isa);
  return made;
}

inline Image ltoir(const std::string& arch) {
  return image(EntryKind::ltoir, arch, {});
}

inline Image with_variables(Image made, const std::vector<std::string>& names) {
  for (const std::string& name : names) made.code->variables.push_back({name, VariableSpace::device, 4});
  return made;
}

inline Image zstd(Image made) {
  made.entry.compression = Compression::zstd;
  return made;
}

inline Image unknown_kind(const std::string& arch) {
  Image made = image(EntryKind::other, arch, {});
  made.entry.kind_code = 0x55;
  made.code.reset();
  made.unknown = "image of unknown kind 0x55";
  return made;
}

inline FatbinCode fatbin_of(std::vector<Image> images, bool linked = true, bool relocatable = false) {
  FatbinCode code;
  code.linked = linked;
  code.fatbin.relocatable = relocatable;
  code.fatbin.section = relocatable ? "__nv_relfatbin" : ".nv_fatbin";
  std::map<std::string, bool> names;
  std::set<std::string> variables;
  for (const Image& each : images) {
    code.fatbin.entries.push_back(each.entry);
    if (each.code)
      for (const Kernel& kernel : each.code->kernels) names[kernel.name] |= kernel.state == KernelState::real;
    if (each.code)
      for (const DeviceVariable& variable : each.code->variables) variables.insert(variable.name);
  }
  code.variables.assign(variables.begin(), variables.end());
  for (const auto& [name, real] : names) code.kernels.push_back({name, real});
  code.images = std::move(images);
  return code;
}

}  // namespace archguard::test
