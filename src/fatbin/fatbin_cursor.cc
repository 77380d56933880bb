#include "fatbin/fatbin_cursor.h"

#include <utility>

#include "host/host_file.h"

namespace archguard {

FatbinCursor::FatbinCursor(const DeviceObject& object) : object_(object) {
  if (object.packed.count != 0) packed_.emplace(*object.packed.in, object.packed.begin);
}

const Fatbin* FatbinCursor::next(Fatbin& unpacked) {
  const Fatbin* listed = listed_ < object_.fatbins.size() ? &object_.fatbins[listed_++] : nullptr;
  if (listed != nullptr && !listed->packed) return listed;
  if (unpacked_ == object_.packed.count || failure_) return nullptr;
  auto read = packed_->next();
  if (!read) {
    failure_ = Error{object_name(object_.path, object_.member),
                     "is not listed to its end: " + read.error().text(), "set TMPDIR to another folder"};
    return nullptr;
  }
  ++unpacked_;
  unpacked = std::move(read).value();
  if (listed != nullptr) {  // what was found out of it later stands there
    std::vector<FatbinEntry> entries = std::move(unpacked.entries);
    unpacked = *listed;
    unpacked.packed = false;
    unpacked.entries = std::move(entries);
  }
  return &unpacked;
}

}  // namespace archguard
