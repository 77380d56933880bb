#include "coverage/data_fatbins.h"

#include <algorithm>
#include <utility>

#include "fatbin/format.h"
#include "fatbin/nvvm_image.h"

namespace archguard {

DataFatbins::DataFatbins(const DeviceObject& object)
    : object_(object), registered_(object.fatbins.size(), false) {
  for (const Registration& each : object.registrations)
    if (each.fatbin && *each.fatbin < registered_.size()) registered_[*each.fatbin] = true;
}

bool DataFatbins::holds(std::size_t index) const {
  const Fatbin& each = object_.fatbins[index];
  const bool in_object = !object_.linked && !each.bare && !each.relocatable && !each.offload &&
                         !each.section.empty() && !fatbin::is_linked_section(each.section);
  return (each.in_data || in_object) && !registered_[index];
}

bool is_ltoir_alone(const FatbinCode& code) {
  return !code.images.empty() && std::all_of(code.images.begin(), code.images.end(), [](const Image& image) {
    return image.entry.kind == EntryKind::ltoir && !image.entry.optix && image.unknown.empty();
  });
}

FatbinCode as_bare_ltoir(FatbinCode code) {
  code.fatbin.bare = true;
  for (Image& image : code.images) image.entry.unknown = image.unknown = fatbin::kLinkedByProgram;
  return code;
}

}  // namespace archguard
