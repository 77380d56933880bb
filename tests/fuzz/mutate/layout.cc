#include "layout.h"

#include <string>

namespace archguard::fuzz {
namespace {

bool is_digit(std::uint8_t c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::uint64_t number_at(ByteView bytes, const Field& field) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < field.width; ++i) {
    const std::uint8_t byte = bytes.data[field.at + i];
    if (field.form == Form::little) value |= std::uint64_t{byte} << (8 * i);
    if (field.form == Form::big) value = value << 8 | byte;
    if (field.form == Form::decimal) {
      if (!is_digit(byte)) break;
      value = value * 10 + (byte - '0');
    }
  }
  return value;
}

bool set_number(Bytes& bytes, const Field& field, std::uint64_t value) {
  if (field.form == Form::decimal) {
    const std::string digits = std::to_string(value);
    if (digits.size() > field.width) return false;
    const std::uint8_t last = bytes[field.at + field.width - 1];
    const std::uint8_t pad = is_digit(last) ? ' ' : last;
    for (std::size_t i = 0; i < field.width; ++i)
      bytes[field.at + i] = i < digits.size() ? static_cast<std::uint8_t>(digits[i]) : pad;
    return true;
  }
  if (field.width < 8 && value >> (8 * field.width) != 0) return false;
  for (std::size_t i = 0; i < field.width; ++i) {
    const std::size_t place = field.form == Form::little ? i : field.width - 1 - i;
    bytes[field.at + i] = static_cast<std::uint8_t>(value >> (8 * place));
  }
  return true;
}

std::uint64_t Layout::add(Field field) {
  if (!in.holds(field.at, field.width) || full()) return 0;
  const std::uint64_t value = number_at(bytes_, field);
  if (field.role != Role::value && field.role != Role::count) {
    if (in.holds(field.begin, value))
      field.end = field.begin + static_cast<std::size_t>(value);
    else
      field.role = Role::value;
  }
  fields_.push_back(field);
  return value;
}

std::uint64_t Layout::value(std::size_t at, std::size_t width, Form form) {
  return add({at, width, form, Role::value, 0, 0, 0});
}

std::uint64_t Layout::size(std::size_t at, std::size_t width, std::size_t begin, Form form) {
  return add({at, width, form, Role::size, begin, 0, 0});
}

std::uint64_t Layout::offset(std::size_t at, std::size_t width, std::size_t base, Form form) {
  return add({at, width, form, Role::offset, base, 0, 0});
}

std::uint64_t Layout::table(std::size_t at, std::size_t width, std::size_t base, Form form) {
  return add({at, width, form, Role::table, base, 0, 0});
}

std::uint64_t Layout::count(std::size_t at, std::size_t width, std::size_t group, Form form) {
  return add({at, width, form, Role::count, 0, 0, group});
}

void Layout::values(std::size_t at, std::size_t width, std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) value(at + i * width, width);
}

void Layout::unit(std::size_t begin, std::uint64_t size, std::size_t group, Kind kind) {
  if (size == 0 || !in.holds(begin, size) || units_.size() >= kUnitsMost) return;
  units_.push_back({begin, begin + static_cast<std::size_t>(size), group, kind});
}

Layout layout_of(ByteView bytes, Start start) {
  Layout layout(bytes);
  if (start == Start::entries)
    find_entries(layout, 0, bytes.size);
  else
    find_coff_object(layout, 0);
  std::size_t zips_left = 2;  // each costs a walk through the input
  for (std::size_t at = 0; at < bytes.size && !layout.full(); ++at) {
    switch (bytes.data[at]) {
      case 0x50:
        if (layout.in.u32(at) == 0xba55ed50) find_fatbin(layout, at);
        if (zips_left != 0 && layout.says(at, "PK\5\6")) find_zip(layout, at), --zips_left;
        break;
      case 0xb1:
        if (layout.in.u32(at) == 0x466243b1) find_wrapper(layout, at);
        break;
      case 0x10:
        if (layout.in.u32(at) == 0xad10ff10) find_offload(layout, at);
        break;
      case 0x7f:
        if (layout.says(at, "\177ELF")) find_elf(layout, at);
        break;
      case '!':
        if (layout.says(at, "!<arch>\n") || layout.says(at, "!<thin>\n")) find_archive(layout, at);
        break;
      case 'M':
        if (layout.says(at, "MZ")) find_image(layout, at);
        break;
      case 'g':
        if (layout.says(at, "glibc-ld.so.cache1.1")) find_loader_cache(layout, at);
        break;
      default:
        break;
    }
  }
  return layout;
}

}  // namespace archguard::fuzz
