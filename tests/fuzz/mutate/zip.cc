#include "layout.h"

// PKWARE's APPNOTE.TXT, zip64 as well. The headers are found by their signatures, wherever the end record
// says they are.
namespace archguard::fuzz {
namespace {

constexpr std::size_t kExtrasMost = 8;

class ZipFinder {
 public:
  ZipFinder(Layout& layout, std::size_t end_record) : layout_(layout), end_(end_record) {}

  void find() {
    const std::size_t locals = layout_.new_group(), entries = layout_.new_group();
    std::size_t directory = end_;
    for (std::size_t at = end_; at-- != 0;)
      if (layout_.says(at, "PK\1\2")) directory = at;
    const Cursor& in = layout_.in;
    const std::uint64_t said = in.u32(end_ + 16);
    base_ = said <= directory && said != 0xffffffff ? directory - static_cast<std::size_t>(said) : 0;

    for (std::size_t at = base_; at < end_ && !layout_.full(); ++at) {
      if (layout_.in.u8(at) != 'P') continue;
      if (layout_.says(at, "PK\3\4")) find_local(at, locals);
      if (layout_.says(at, "PK\1\2")) find_entry(at, entries);
      if (layout_.says(at, "PK\6\6")) find_end64(at, directory, entries);
      if (layout_.says(at, "PK\6\7")) {
        layout_.value(at + 4, 4);
        layout_.offset(at + 8, 8, base_);
        layout_.value(at + 16, 4);
      }
    }
    layout_.values(end_ + 4, 2, 2);  // disks
    layout_.count(end_ + 8, 2, entries);
    layout_.count(end_ + 10, 2, entries);
    layout_.size(end_ + 12, 4, directory);
    layout_.table(end_ + 16, 4, base_);
    layout_.size(end_ + 20, 2, end_ + 22);
  }

 private:
  void find_end64(std::size_t at, std::size_t directory, std::size_t entries) {
    layout_.size(at + 4, 8, at + 12);
    layout_.values(at + 12, 2, 2);  // versions
    layout_.values(at + 16, 4, 2);  // disks
    layout_.count(at + 24, 8, entries);
    layout_.count(at + 32, 8, entries);
    layout_.size(at + 40, 8, directory);
    layout_.table(at + 48, 8, base_);
  }

  void find_local(std::size_t at, std::size_t group) {
    layout_.values(at + 4, 2, 3);  // version, flags, method
    layout_.value(at + 14, 4);     // CRC-32
    const Cursor& in = layout_.in;
    const std::size_t extra_at = at + 30 + in.u16(at + 26), data = extra_at + in.u16(at + 28);
    layout_.size(at + 18, 4, data);
    layout_.value(at + 22, 4);
    layout_.size(at + 26, 2, at + 30);
    layout_.size(at + 28, 2, extra_at);
    find_extras(extra_at, data);
    layout_.unit(at, data - at + in.u32(at + 18), group, Kind::local);
  }

  void find_entry(std::size_t at, std::size_t group) {
    const Cursor& in = layout_.in;
    const std::size_t name_end = at + 46 + in.u16(at + 28), extra_end = name_end + in.u16(at + 30);
    const std::uint64_t local = in.u32(at + 42);
    layout_.values(at + 4, 2, 4);  // versions, flags, method
    layout_.value(at + 16, 4);     // CRC-32
    layout_.size(at + 20, 4, data_of(local));
    layout_.value(at + 24, 4);
    layout_.size(at + 28, 2, at + 46);
    layout_.size(at + 30, 2, name_end);
    layout_.size(at + 32, 2, extra_end);
    layout_.values(at + 34, 2, 2);  // disk, attributes
    layout_.offset(at + 42, 4, base_);
    find_extras(name_end, extra_end);
    layout_.unit(at, extra_end - at + in.u16(at + 32), group, Kind::central);
  }

  // Where the stored bytes of a member stand; the input's end where its header lies outside.
  std::size_t data_of(std::uint64_t local) const {
    const Cursor& in = layout_.in;
    if (!in.holds(base_, local) || !in.holds(base_ + local, 30)) return in.size();
    const std::size_t at = base_ + static_cast<std::size_t>(local);
    return at + 30 + in.u16(at + 26) + in.u16(at + 28);
  }

  void find_extras(std::size_t at, std::size_t end) {
    const std::size_t group = layout_.new_group();
    for (std::size_t i = 0; i < kExtrasMost && at + 4 <= end; ++i) {
      const std::uint64_t id = layout_.value(at, 2), size = layout_.size(at + 2, 2, at + 4);
      if (id == 1) layout_.values(at + 4, 8, static_cast<std::size_t>(size / 8 < 3 ? size / 8 : 3));
      layout_.unit(at, 4 + size, group, Kind::extra);
      at += 4 + static_cast<std::size_t>(size);
    }
  }

  Layout& layout_;
  const std::size_t end_;
  std::size_t base_ = 0;
};

}  // namespace

void find_zip(Layout& layout, std::size_t end_record) {
  ZipFinder(layout, end_record).find();
}

}  // namespace archguard::fuzz
