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

ArchiveBuilder& ArchiveBuilder::member(std::string_view name, Bytes bytes) {
  members_.push_back({std::string(name), std::move(bytes)});
  return *this;
}

Bytes ArchiveBuilder::bytes() const {
  ByteWriter out;
  out.text(thin_ ? "!<thin>\n" : "!<arch>\n");
  const Bytes symbols = {0, 0, 0, 0};
  add_header(out, names_ == Names::bsd ? "__.SYMDEF" : "/", symbols.size());
  add_content(out, symbols);

  ByteWriter long_names;
  std::vector<std::string> short_names;
  for (const Member& member : members_) {
    if (names_ == Names::bsd) {
      short_names.push_back("#1/" + std::to_string(member.name.size()));
    } else if (member.name.size() < 16) {
      short_names.push_back(member.name + "/");
    } else {
      short_names.push_back("/" + std::to_string(long_names.size()));
      long_names.text(member.name);
      names_ == Names::gnu ? long_names.text("/\n") : long_names.u8(0);
    }
  }
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
