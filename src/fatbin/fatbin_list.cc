#include "fatbin/fatbin_list.h"

#include <algorithm>
#include <utility>

#include "fatbin/registrations.h"

namespace archguard::fatbin {
namespace {

constexpr std::size_t kKeptFirst = 1 << 16;  // with Keep::first: some 12 MB

}  // namespace

Kept::Kept(Keep keep) : room(keep == Keep::all ? SIZE_MAX : kKeptFirst) {}

void FatbinList::add(Fatbin fatbin) {
  if (!fatbin.bare && !fatbin.offload) ++fat_binaries_;
  const std::size_t size = fatbin.entries.size() + 1;
  if (kept_.room < size) return pack(std::move(fatbin));
  kept_.room -= size;
  out_.fatbins.push_back(std::move(fatbin));
}

// Where host code tells which fat binaries it registers, each stays in the list, for what that says of it,
// and its entries alone are packed.
void FatbinList::pack(Fatbin fatbin) {
  kept_.room = 0;  // all that follow are packed, too
  if (kept_.packed == nullptr) kept_.packed = std::make_shared<PackedFatbins>();
  if (out_.packed.count++ == 0) {
    out_.packed.in = kept_.packed;
    out_.packed.begin = kept_.packed->begin_run();
    told_ = std::any_of(host_.sections.begin(), host_.sections.end(), [](const Section& section) {
      return is_registration_section(section.name) && section.has_bytes;
    });
  }
  kept_.packed->add(fatbin);
  fatbin.packed = true;
  fatbin.entries = {};
  if (told_)
    out_.fatbins.push_back(std::move(fatbin));
  else if (fatbin.relocatable && !fatbin.bare && !relocatable_)
    relocatable_ = std::move(fatbin);
}

const Fatbin* FatbinList::relocatable() const {
  const auto listed = std::find_if(out_.fatbins.begin(), out_.fatbins.end(),
                                   [](const Fatbin& fatbin) { return fatbin.relocatable && !fatbin.bare; });
  if (listed != out_.fatbins.end()) return &*listed;
  return relocatable_ ? &*relocatable_ : nullptr;
}

}  // namespace archguard::fatbin
