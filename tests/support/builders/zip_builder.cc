#include "zip_builder.h"

#include <zlib.h>

namespace archguard::test {

ZipBuilder& ZipBuilder::stored(std::string_view name, Bytes bytes) {
  const auto checksum = static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
  const std::uint64_t size = bytes.size();
  members_.push_back({std::string(name), std::move(bytes), 0, 0, false, checksum, size});
  return *this;
}

ZipBuilder& ZipBuilder::deflated(std::string_view name, const Bytes& bytes) {
  stored(name, bytes);
  Member& member = members_.back();
  member.method = 8;
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  member.content.resize(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  Bytes in = bytes;
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = member.content.data();
  stream.avail_out = static_cast<uInt>(member.content.size());
  ::deflate(&stream, Z_FINISH);
  member.content.resize(stream.total_out);
  deflateEnd(&stream);
  return *this;
}

ZipBuilder& ZipBuilder::link(std::string_view name, std::string_view target) {
  stored(name, Bytes(target.begin(), target.end()));
  members_.back().link = true;
  return *this;
}

ZipBuilder& ZipBuilder::method(unsigned method) {
  members_.back().method = method;
  return *this;
}

ZipBuilder& ZipBuilder::checksum(std::uint32_t claimed) {
  members_.back().checksum = claimed;
  return *this;
}

ZipBuilder& ZipBuilder::size(std::uint64_t claimed) {
  members_.back().size = claimed;
  return *this;
}

ZipBuilder& ZipBuilder::flags(unsigned flags) {
  members_.back().flags = flags;
  return *this;
}

ZipBuilder& ZipBuilder::comment(std::string_view text) {
  comment_ = text;
  return *this;
}

ZipBuilder& ZipBuilder::script(std::string_view text) {
  script_ = text;
  return *this;
}

ZipBuilder& ZipBuilder::zip64() {
  zip64_ = true;
  return *this;
}

Bytes ZipBuilder::bytes() const {
  constexpr std::uint32_t kWide = 0xffffffff;
  ByteWriter file, directory;
  file.text(script_);
  for (const Member& member : members_) {
    const std::uint64_t header = file.size();
    file.u32(0x04034b50).u16(20).u16(member.flags).u16(member.method).u32(0).u32(member.checksum);
    file.u32(member.content.size()).u32(member.size).u16(member.name.size()).u16(0);
    file.text(member.name).append(member.content);

    directory.u32(0x02014b50)
        .u16(member.link ? 3 << 8 | 20 : 20)  // made on Unix: with a mode
        .u16(20)
        .u16(member.flags)
        .u16(member.method)
        .u32(0)
        .u32(member.checksum);
    directory.u32(zip64_ ? kWide : member.content.size()).u32(zip64_ ? kWide : member.size);
    directory.u16(member.name.size()).u16(zip64_ ? 28 + 6 : 0).u16(0).u16(0).u16(0);
    directory.u32(member.link ? 0120777u << 16 : 0);
    directory.u32(zip64_ ? kWide : header).text(member.name);
    if (zip64_)  // behind an extra field of another kind
      directory.u16(0x5455)
          .u16(2)
          .u16(0)
          .u16(1)
          .u16(24)
          .u64(member.size)
          .u64(member.content.size())
          .u64(header);
  }
  const std::uint64_t at = file.size();
  file.append(directory.bytes());
  if (zip64_) {
    const std::uint64_t record = file.size();
    file.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(members_.size()).u64(members_.size());
    file.u64(directory.size()).u64(at);
    file.u32(0x07064b50).u32(0).u64(record).u32(1);
  }
  const std::uint64_t count = zip64_ ? 0xffff : members_.size();
  file.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count).u32(zip64_ ? kWide : directory.size());
  file.u32(zip64_ ? kWide : at).u16(comment_.size()).text(comment_);
  return file.bytes();
}

}  // namespace archguard::test
