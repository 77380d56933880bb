#include "fatbin/container_list.h"

#include <algorithm>
#include <utility>

#include "fatbin/registrations.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kKeptFirst = 1 << 14;  // with Keep::first

}  // namespace

Kept::Kept(Keep keep) : room(keep == Keep::all ? SIZE_MAX : kKeptFirst) {}

void ContainerList::add(Container container) {
  if (!container.bare && !container.offload) ++fat_binaries_;
  const std::size_t size = container.entries.size() + 1;
  if (kept_.room < size) return pack(std::move(container));
  kept_.room -= size;
  out_.containers.push_back(std::move(container));
}

// Where host code tells which containers it registers, each stays in the list, for what that says of it, and
// its entries alone are packed.
void ContainerList::pack(Container container) {
  kept_.room = 0;  // all that follow are packed, too
  if (kept_.packed == nullptr) kept_.packed = std::make_shared<PackedContainers>();
  if (out_.packed.count++ == 0) {
    out_.packed.in = kept_.packed;
    out_.packed.begin = kept_.packed->begin_run();
    told_ = std::any_of(host_.sections.begin(), host_.sections.end(), [](const Section& section) {
      return is_registration_section(section.name) && section.has_bytes;
    });
  }
  kept_.packed->add(container);
  container.packed = true;
  container.entries = {};
  if (told_)
    out_.containers.push_back(std::move(container));
  else if (container.relocatable && !container.bare && !relocatable_)
    relocatable_ = std::move(container);
}

const Container* ContainerList::relocatable() const {
  const auto listed =
      std::find_if(out_.containers.begin(), out_.containers.end(),
                   [](const Container& container) { return container.relocatable && !container.bare; });
  if (listed != out_.containers.end()) return &*listed;
  return relocatable_ ? &*relocatable_ : nullptr;
}

}  // namespace archguard::fatbin
