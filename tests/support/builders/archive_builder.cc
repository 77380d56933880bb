#include "archive_builder.h"

namespace archguard::test {
namespace {

std::string field(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

void add_header(ByteWriter& out, const std::string& name, std::size_t size) {
  out.text(field(name, 16) + field("0", 12) + field("0", 6) + field("0", 6) + field("644", 8) +
           field(std::to_string(size), 10) + "`\n");
}

void add_content(ByteWriter& out, const Bytes& bytes) {
  out.append(bytes);
  if (out.size() % 2 != 0) out.text("\n");
}

}  // namespace

ArchiveBuilder& ArchiveBuilder::names(Names names) {
  names_ = names;
  return *this;
}

ArchiveBuilder& ArchiveBuilder::thin() {
  thin_ = true;
  return *this;
}

ArchiveBuilder& ArchiveBuilder::symbols() {
  symbols_ = true;
  return *this;
}

ArchiveBuilder& ArchiveBuilder::member(std::string_view name, Bytes bytes) {
  members_.push_back({std::string(name), std::move(bytes)});
  return *this;
}

Bytes ArchiveBuilder::symbol_table(std::size_t long_names) const {
  const auto even = [](std::size_t size) { return size + size % 2; };
  ByteWriter table;
  const auto big_endian = [&](std::size_t value) {
    table.u8(value >> 24).u8(value >> 16).u8(value >> 8).u8(value);
  };
  big_endian(symbols_ ? members_.size() : 0);
  if (!symbols_) return table.bytes();
  std::size_t at = 8 + 60 + even(4 + members_.size() * 6) + (long_names == 0 ? 0 : 60 + even(long_names));
  for (const Member& member : members_) {
    big_endian(at);
    at += 60 + even(member.content.size());
  }
  for (std::size_t i = 0; i < members_.size(); ++i) table.text("s").u8(0);
  return table.bytes();
}

Bytes ArchiveBuilder::bytes() const {
  ByteWriter out;
  out.text(thin_ ? "!<thin>\n" : "!<arch>\n");
  ByteWriter long_names;
  std::vector<std::string> short_names;
  for (const Member& member : members_) {
    if (names_ == Names::bsd) {
      short_names.push_back("#1/" + std::to_string(member.name.size()));
    } else if (member.name.size() < 16 && !thin_) {
      short_names.push_back(member.name + "/");
    } else {
      short_names.push_back("/" + std::to_string(long_names.size()));
      long_names.text(member.name);
      names_ == Names::gnu ? long_names.text("/\n") : long_names.u8(0);
    }
  }
  const Bytes symbols = symbol_table(long_names.size());
  add_header(out, names_ == Names::bsd ? "__.SYMDEF" : "/", symbols.size());
  add_content(out, symbols);
  if (long_names.size() != 0) {
    add_header(out, "//", long_names.size());
    add_content(out, long_names.bytes());
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Bytes content = members_[i].content;
    if (names_ == Names::bsd)
      content.insert(content.begin(), members_[i].name.begin(), members_[i].name.end());
    add_header(out, short_names[i], content.size());
    if (!thin_) add_content(out, content);
  }
  return out.bytes();
}

}  // namespace archguard::test
