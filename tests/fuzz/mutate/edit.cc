#include "edit.h"

#include <optional>

namespace archguard::fuzz {
namespace {

class Mender {
 public:
  Mender(const Layout& layout, const Edit& edit) : layout_(layout), edit_(edit) {
    for (const Piece& piece : edit.pieces) length_ += size_of(piece);
  }

  Bytes raw() const {
    const ByteView old = layout_.bytes();
    Bytes bytes(old.data, old.data + edit_.begin);
    for (const Piece& piece : edit_.pieces) {
      if (piece.is_fresh)
        bytes.insert(bytes.end(), piece.fresh.begin(), piece.fresh.end());
      else
        bytes.insert(bytes.end(), old.data + piece.begin, old.data + piece.end);
    }
    bytes.insert(bytes.end(), old.data + edit_.end, old.data + old.size);
    return bytes;
  }

  void mend(Bytes& bytes) const {
    for (const Field& field : layout_.fields()) {
      if (field.role == Role::value) continue;
      const auto value = new_value(field);
      if (!value) continue;
      // A copy of the field says the same.
      for (Field moved : copies_of(field)) {
        if (moved.at <= bytes.size() && moved.width <= bytes.size() - moved.at)
          set_number(bytes, moved, *value);
      }
    }
  }

 private:
  static std::size_t size_of(const Piece& piece) {
    return piece.is_fresh ? piece.fresh.size() : piece.end - piece.begin;
  }

  bool is_within(std::size_t at) const { return at >= edit_.begin && at < edit_.end; }

  // Where the byte is now, the first one of several; of one that is gone where the edit begins.
  std::size_t moved(std::size_t at) const {
    if (at < edit_.begin) return at;
    if (at >= edit_.end) return at - edit_.end + edit_.begin + length_;
    std::size_t now = edit_.begin;
    for (const Piece& piece : edit_.pieces) {
      if (!piece.is_fresh && at >= piece.begin && at < piece.end) return now + at - piece.begin;
      now += size_of(piece);
    }
    return edit_.begin;
  }

  std::vector<Field> copies_of(const Field& field) const {
    std::vector<Field> copies;
    Field copy = field;
    if (!is_within(field.at)) {
      copy.at = moved(field.at);
      return {copy};
    }
    std::size_t now = edit_.begin;
    for (const Piece& piece : edit_.pieces) {
      if (!piece.is_fresh && field.at >= piece.begin && field.at + field.width <= piece.end) {
        copy.at = now + field.at - piece.begin;
        copies.push_back(copy);
      }
      now += size_of(piece);
    }
    return copies;
  }

  std::optional<std::uint64_t> new_value(const Field& field) const {
    const bool outside = !is_within(field.at);
    if (field.role == Role::count) {
      if (field.group != edit_.group || edit_.more == 0) return std::nullopt;
      const std::uint64_t count = number_at(layout_.bytes(), field);
      return count + static_cast<std::uint64_t>(static_cast<std::int64_t>(edit_.more));
    }
    if (field.role == Role::offset || field.role == Role::table) {
      const bool stays = outside && field.begin <= edit_.begin;
      const std::size_t base = stays ? field.begin : moved(field.begin);
      const bool first = field.role == Role::table && field.end == edit_.begin;
      const std::size_t target = first ? field.end : moved(field.end);
      if (target < base || field.end == field.begin) return std::nullopt;
      return target - base;
    }
    if (field.end == field.begin) return std::nullopt;
    if (outside && field.begin <= edit_.begin && field.end >= edit_.end)
      return field.end - field.begin - (edit_.end - edit_.begin) + length_;
    const std::size_t begin = moved(field.begin), last = moved(field.end - 1);
    if (last < begin) return std::nullopt;
    return last + 1 - begin;
  }

  const Layout& layout_;
  const Edit& edit_;
  std::size_t length_ = 0;
};

}  // namespace

Bytes edited(const Layout& layout, const Edit& edit, bool mend) {
  const Mender mender(layout, edit);
  Bytes bytes = mender.raw();
  if (mend) mender.mend(bytes);
  return bytes;
}

}  // namespace archguard::fuzz
