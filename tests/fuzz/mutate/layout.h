#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// Where the fields of an input stand. Each format's finder adds what it sees, and is lenient: what lies
// outside of the input is left out, whatever a field says. One mutator (mutate.h) works on the list, without
// knowing formats.
namespace archguard::fuzz {

enum class Form : std::uint8_t { little, big, decimal };  // decimal: digits, then blanks or NULs
enum class Role : std::uint8_t { value, size, offset, table, count };

struct Field {
  std::size_t at = 0, width = 0;
  Form form = Form::little;
  Role role = Role::value;
  // Of a size the bytes that it counts; of an offset what it counts from and where it points. One that points
  // at a table does not follow the table's first unit.
  std::size_t begin = 0, end = 0;
  std::size_t group = 0;  // of a count: the units that it counts
};

enum class Kind : std::uint8_t {
  fatbin,
  entry,
  wrapper,
  piece,
  section,
  segment,
  symbol,
  record,
  member,
  local,
  central,
  extra,
  coff_section,
  import
};

// Bytes that can be copied, moved or removed as one: a header in a table, an entry, a member. A group holds
// those of one table.
struct Unit {
  std::size_t begin = 0, end = 0, group = 0;
  Kind kind = Kind::fatbin;
};

class Layout {
 public:
  explicit Layout(ByteView bytes) : in(bytes), bytes_(bytes) {}

  ByteView bytes() const { return bytes_; }
  const std::vector<Field>& fields() const { return fields_; }
  const std::vector<Unit>& units() const { return units_; }

  // Each adds a field where it lies inside, and gives its value; 0 where it does not.
  std::uint64_t value(std::size_t at, std::size_t width, Form form = Form::little);
  std::uint64_t size(std::size_t at, std::size_t width, std::size_t begin, Form form = Form::little);
  std::uint64_t offset(std::size_t at, std::size_t width, std::size_t base, Form form = Form::little);
  std::uint64_t table(std::size_t at, std::size_t width, std::size_t base, Form form = Form::little);
  std::uint64_t count(std::size_t at, std::size_t width, std::size_t group, Form form = Form::little);
  // Fields of one width, back to back.
  void values(std::size_t at, std::size_t width, std::size_t number);

  std::size_t new_group() { return ++groups_; }
  void unit(std::size_t begin, std::uint64_t size, std::size_t group, Kind kind);
  bool full() const { return fields_.size() >= kFieldsMost; }
  // The text at `at`, as far as it lies inside.
  bool says(std::size_t at, std::string_view text) const {
    return in.part(at, text.size()).text() == text && !text.empty();
  }

  const Cursor in;

 private:
  static constexpr std::size_t kFieldsMost = 1024, kUnitsMost = 256;

  std::uint64_t add(Field field);

  ByteView bytes_;
  std::vector<Field> fields_;
  std::vector<Unit> units_;
  std::size_t groups_ = 0;
};

std::uint64_t number_at(ByteView bytes, const Field& field);
// False, and nothing is written, where it does not fit.
bool set_number(Bytes& bytes, const Field& field, std::uint64_t value);

// One finder a format, each for what begins at `at`.
void find_fatbin(Layout& layout, std::size_t at);
void find_entries(Layout& layout, std::size_t at, std::uint64_t size);
void find_wrapper(Layout& layout, std::size_t at);
void find_offload(Layout& layout, std::size_t at);
void find_elf(Layout& layout, std::size_t at);
void find_archive(Layout& layout, std::size_t at);
void find_zip(Layout& layout, std::size_t end_record);
void find_image(Layout& layout, std::size_t at);        // PE
void find_coff_object(Layout& layout, std::size_t at);  // also a big one; nothing where none begins
void find_loader_cache(Layout& layout, std::size_t at);

// What an input begins with, where no magic number says so.
enum class Start { magic, entries };
// Everything in the input, one inside of another as well.
Layout layout_of(ByteView bytes, Start start);

}  // namespace archguard::fuzz
