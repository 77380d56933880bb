#include "mutate.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "edit.h"

namespace archguard::fuzz {
namespace {

constexpr std::size_t kLayoutMost = std::size_t{64} * 1024;  // larger inputs are changed without a layout

// SplitMix64 (Steele, Lea, Flood): one number from the last.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t most) { return most == 0 ? 0 : static_cast<std::size_t>(next() % most); }
  bool one_in(std::size_t many) { return below(many) == 0; }

 private:
  std::uint64_t state_;
};

template <class T>
const T& any_of(Random& random, const std::vector<T>& all) {
  return all[random.below(all.size())];
}

class Mutator {
 public:
  Mutator(ByteView bytes, std::size_t most, Random& random, Start start, Plain plain)
      : bytes_(bytes), most_(most), random_(random), layout_(layout_of(bytes, start)), plain_(plain) {}

  const Layout& layout() const { return layout_; }

  // Empty where the drawn change cannot be made.
  Bytes mutated() {
    if (layout_.fields().empty()) return {};
    if (layout_.units().empty()) return random_.one_in(3) ? content_changed() : fields_set();
    switch (random_.below(12)) {
      case 0:
        return copied();
      case 1:
        return removed();
      case 2:
        return exchanged();
      case 3:
        return moved();
      case 4:
        return inside_changed();
      case 5:
      case 6:
        return content_changed();
      case 7:
        return content_resized();
      default:
        return fields_set();
    }
  }

  Bytes with_unit_of(const Mutator& other) {
    const auto& theirs = other.layout_.units();
    if (theirs.empty() || layout_.units().empty()) return {};
    const Unit& from = any_of(random_, theirs);
    std::vector<Unit> alike;
    for (const Unit& unit : layout_.units())
      if (unit.kind == from.kind) alike.push_back(unit);
    if (alike.empty()) return {};
    const Unit& at = any_of(random_, alike);
    Bytes fresh(other.bytes_.data + from.begin, other.bytes_.data + from.end);
    if (random_.one_in(2)) return made({at.begin, at.end, {new_bytes(std::move(fresh))}, at.group, 0});
    return made({at.begin, at.end, {old_bytes(at.begin, at.end), new_bytes(std::move(fresh))}, at.group, 1});
  }

 private:
  Bytes made(const Edit& edit) { return edited(layout_, edit, !random_.one_in(5)); }

  std::uint64_t interesting(const Field& field) {
    const std::uint64_t now = number_at(bytes_, field), size = bytes_.size;
    const std::uint64_t most =
        field.width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * field.width) - 1;
    switch (random_.below(16)) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return most;
      case 3:
        return most >> 1;
      case 4:
        return size;
      case 5:
        return size - 1 + 2 * random_.below(2);
      case 6:
        return size - std::min<std::uint64_t>(size, field.at);
      case 7:
        return now + 1 + random_.below(8);
      case 8:
        return now - 1 - random_.below(8);
      case 9:
        return now ^ std::uint64_t{1} << random_.below(std::min<std::size_t>(64, 8 * field.width));
      case 10:
        return now + 8 * (1 + random_.below(4));
      case 11:
        return now - 8 * (1 + random_.below(4));
      case 12:
        return random_.below(256);
      case 13:
        return random_.next() & most;
      case 14: {
        const Field& other = any_of(random_, layout_.fields());
        return random_.one_in(2) ? other.at : number_at(bytes_, other);
      }
      default:
        return same_width(field);
    }
  }

  // The value of another field of this width, or where a unit begins, as an offset would say it.
  std::uint64_t same_width(const Field& field) {
    for (unsigned i = 0; i < 16; ++i) {
      const Field& other = any_of(random_, layout_.fields());
      if (other.width == field.width && other.at != field.at) return number_at(bytes_, other);
    }
    return layout_.units().empty() ? bytes_.size : any_of(random_, layout_.units()).begin - field.begin;
  }

  Bytes fields_set() {
    Bytes bytes(bytes_.data, bytes_.data + bytes_.size);
    for (std::size_t left = 1 + (random_.one_in(3) ? random_.below(3) : 0); left != 0; --left) {
      const Field& field = any_of(random_, layout_.fields());
      const std::uint64_t mask = field.width >= 8 || field.form == Form::decimal
                                     ? ~std::uint64_t{0}
                                     : (std::uint64_t{1} << 8 * field.width) - 1;
      set_number(bytes, field, interesting(field) & mask);
    }
    return bytes;
  }

  Bytes copied() {
    const Unit& unit = any_of(random_, layout_.units());
    const Piece piece = old_bytes(unit.begin, unit.end);
    return made({unit.begin, unit.end, {piece, piece}, unit.group, 1});
  }

  Bytes removed() {
    const Unit& unit = any_of(random_, layout_.units());
    return made({unit.begin, unit.end, {}, unit.group, -1});
  }

  // Two units of a group, the first before the second.
  bool draw_two(Unit& first, Unit& second) {
    first = any_of(random_, layout_.units());
    for (unsigned i = 0; i < 16; ++i) {
      second = any_of(random_, layout_.units());
      if (second.group != first.group || second.begin == first.begin) continue;
      if (second.begin < first.begin) std::swap(first, second);
      return second.begin >= first.end;
    }
    return false;
  }

  Bytes exchanged() {
    Unit first, second;
    if (!draw_two(first, second)) return {};
    return made({first.begin,
                 second.end,
                 {old_bytes(second.begin, second.end), old_bytes(first.end, second.begin),
                  old_bytes(first.begin, first.end)},
                 0,
                 0});
  }

  Bytes moved() {
    Unit first, second;
    if (!draw_two(first, second)) return {};
    return made({first.begin,
                 second.end,
                 {old_bytes(first.end, second.end), old_bytes(first.begin, first.end)},
                 0,
                 0});
  }

  // `plain` on the bytes [begin, end), which may become more; at times still a multiple of 8.
  Bytes plainly_changed(std::size_t begin, std::size_t end, std::size_t group) {
    const std::size_t size = end - begin, room = most_ - std::min(most_, bytes_.size);
    const std::size_t grown = size + std::min<std::size_t>(room, 64);
    if (size == 0 || most_ < bytes_.size) return {};
    Bytes fresh(grown);
    std::copy(bytes_.data + begin, bytes_.data + end, fresh.begin());
    fresh.resize(std::min(plain_(fresh.data(), size, grown), grown));
    if (size % 8 == 0 && !random_.one_in(4)) fresh.resize((fresh.size() + 7) / 8 * 8);
    return made({begin, end, {new_bytes(std::move(fresh))}, group, 0});
  }

  Bytes inside_changed() {
    const Unit& unit = any_of(random_, layout_.units());
    return plainly_changed(unit.begin, unit.end, unit.group);
  }

  const Field* any_sized() {
    for (unsigned i = 0; i < 32; ++i) {
      const Field& field = any_of(random_, layout_.fields());
      if (field.role == Role::size && field.end > field.begin) return &field;
    }
    return nullptr;
  }

  Bytes content_changed() {
    const Field* field = any_sized();
    return field == nullptr ? Bytes{} : plainly_changed(field->begin, field->end, 0);
  }

  // What a size counts is cut or gets zeros, its own bytes or other bytes behind it.
  Bytes content_resized() {
    const Field* field = any_sized();
    if (field == nullptr) return {};
    const std::size_t size = field->end - field->begin;
    const std::size_t step = random_.one_in(3) ? 1 + random_.below(16) : 8 * (1 + random_.below(8));
    Edit edit{field->begin, field->end, {}, 0, 0};
    switch (random_.below(4)) {
      case 0:
        break;  // nothing is left
      case 1:
        edit.pieces = {old_bytes(field->begin, field->end - std::min(size, step))};
        break;
      case 2:
        edit.pieces = {old_bytes(field->begin, field->end), new_bytes(Bytes(step))};
        break;
      default: {
        const std::size_t from = random_.below(bytes_.size);
        edit.pieces = {old_bytes(field->begin, field->end),
                       old_bytes(from, std::min(bytes_.size, from + step))};
      }
    }
    return made(edit);
  }

  const ByteView bytes_;
  const std::size_t most_;
  Random& random_;
  const Layout layout_;
  const Plain plain_;
};

}  // namespace

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, Start start,
                   Plain plain) {
  Random random(seed);
  if (size == 0 || size > most || size > kLayoutMost || random.one_in(2)) return plain(data, size, most);
  Mutator mutator({data, size}, most, random, start, plain);
  const Bytes bytes = mutator.mutated();
  if (bytes.empty() || bytes.size() > most) return plain(data, size, most);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t cross_over(ByteView one, ByteView other, std::uint8_t* out, std::size_t most, unsigned seed,
                       Start start) {
  Random random(seed);
  if (!random.one_in(4) || one.size > kLayoutMost || other.size > kLayoutMost) return 0;
  Mutator mutator(one, most, random, start, nullptr);
  if (mutator.layout().units().empty()) return 0;
  const Mutator donor(other, most, random, start, nullptr);
  const Bytes bytes = mutator.with_unit_of(donor);
  if (bytes.empty() || bytes.size() > most) return 0;
  std::memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace archguard::fuzz
