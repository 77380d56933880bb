#include "host/unpacked_stream.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "host/inflation.h"
#include "host/libarchive.h"

namespace archguard {
namespace {

using namespace std::string_view_literals;

struct Filter {
  const char* name;
  std::string_view magic;
  int code;  // ARCHIVE_FILTER_…
};

constexpr Filter kFilters[] = {
    {"gzip", "\x1f\x8b"sv, 1},
    {"bzip2", "BZh"sv, 2},
    {"xz",
     "\xfd"
     "7zXZ\0"sv,
     6},
    {"lzip", "LZIP"sv, 9},
    {"lz4", "\x04\x22\x4d\x18"sv, 13},
    {"zstd", "\x28\xb5\x2f\xfd"sv, 14},
};

constexpr std::size_t kGzipBlock = std::size_t{64} << 10;

// gzip(1), members one after the other and zeros behind them. Not libarchive's, which compares no checksum.
class GzipStream final : public ByteStream {
 public:
  GzipStream(ByteStream& packed, const Spend& spend)
      : packed_(packed), spend_(spend), inflation_(MAX_WBITS + 16), in_(kGzipBlock) {}

  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override {
    if (!inflation_.ready) return Error{{}, "no memory for zlib", {}};
    z_stream& stream = inflation_.stream;
    while (count != 0) {
      if (stream.avail_in == 0) ARCHGUARD_CHECK(read());
      if (stream.avail_in == 0) {
        if (between_) return std::size_t{0};
        return Error{{}, "is cut: its gzip stream does not end", kGetWhole};
      }
      if (between_) {
        ARCHGUARD_CHECK(begin_member());
        continue;
      }
      stream.next_out = out;
      stream.avail_out = static_cast<uInt>(std::min<std::size_t>(count, kGzipBlock));
      const std::size_t room = stream.avail_out;
      const int state = ::inflate(&stream, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
        return Error{{},
                     std::string("is damaged: zlib: ") + (stream.msg != nullptr ? stream.msg : "bad stream"),
                     kGetWhole};
      between_ = state == Z_STREAM_END;
      if (const std::size_t made = room - stream.avail_out; made != 0) {
        ARCHGUARD_CHECK(spend_(made));
        return made;
      }
    }
    return std::size_t{0};
  }

 private:
  Status read() {
    ARCHGUARD_TRY(count, packed_.next(in_.data(), in_.size()));
    inflation_.stream.next_in = in_.data();
    inflation_.stream.avail_in = static_cast<uInt>(count);
    return Done{};
  }

  // Behind a member: the next one, or nothing but zeros.
  Status begin_member() {
    z_stream& stream = inflation_.stream;
    while (stream.avail_in != 0 && *stream.next_in == 0) {
      zeros_ = true;
      ++stream.next_in;
      --stream.avail_in;
    }
    if (stream.avail_in == 0) {
      if (zeros_ && ++zero_blocks_ > kZeroBlocksMost)
        return Error{
            {}, "has more than 64 MiB behind its end, which are not read", "unpack it and name the folder"};
      return Done{};
    }
    if (zeros_ || *stream.next_in != 0x1f || ::inflateReset(&stream) != Z_OK)
      return Error{{}, "is damaged: bytes follow its gzip stream", kGetWhole};
    between_ = false;
    return Done{};
  }

  ByteStream& packed_;
  const Spend& spend_;
  Inflation inflation_;
  Bytes in_;
  bool between_ = false, zeros_ = false;
  static constexpr std::size_t kZeroBlocksMost = (std::size_t{64} << 20) / kGzipBlock;
  std::size_t zero_blocks_ = 0;
};

// What one filter of libarchive's makes of a stream.
class FilterStream final : public ByteStream {
 public:
  FilterStream(const LibArchive& library, ByteStream& packed, const Spend& spend)
      : library_(library), spend_(spend), reader_(library, packed) {}

  Status open(const Filter& filter) {
    // A warning: the library would start a program of that name.
    if (library_.add_filter(reader_.get(), filter.code) != LibArchive::kFine)
      return Error{{},
                   std::string("is packed by ") + filter.name + ", which this libarchive.so.13 does not read",
                   "unpack it and name the folder"};
    library_.add_raw(reader_.get());
    library_.add_empty(reader_.get());
    ARCHGUARD_CHECK(reader_.open());
    // What cannot be unpacked from its first block on is opened as if it were empty, with an error told; the
    // next call forgets it.
    if (library_.error_text(reader_.get()) != nullptr) return reader_.error();
    LibArchive::Entry entry = nullptr;
    const int state = library_.next_header(reader_.get(), &entry);
    ended_ = state == LibArchive::kEnd;
    if (!ended_ && state != LibArchive::kFine) return reader_.error();
    return Done{};
  }

  Result<std::size_t> next(std::uint8_t* out, std::size_t count) override {
    if (ended_) return std::size_t{0};
    const std::ptrdiff_t made = library_.read_data(reader_.get(), out, count);
    if (made < 0) return reader_.error();
    ARCHGUARD_CHECK(spend_(static_cast<std::uint64_t>(made)));
    ended_ = made == 0;
    if (ended_) ARCHGUARD_CHECK(check_end());
    return static_cast<std::size_t>(made);
  }

 private:
  // bzip2's and lz4's filters stop where no stream begins any more, and say nothing.
  Status check_end() {
    const auto taken = static_cast<std::uint64_t>(library_.bytes_done(reader_.get(), -1));
    ARCHGUARD_CHECK(reader_.drain());
    if (reader_.last_byte() > taken)
      return Error{{}, "is damaged: bytes follow its compressed stream", "unpack it and name the folder"};
    return Done{};
  }

  const LibArchive& library_;
  const Spend& spend_;
  ArchiveReader reader_;
  bool ended_ = false;
};

const Filter* filter_of(ByteView start) {
  for (const Filter& filter : kFilters)
    if (starts_with(start.text(), filter.magic)) return &filter;
  return nullptr;
}

}  // namespace

const char* packed_by(ByteView start) {
  const Filter* filter = filter_of(start);
  return filter == nullptr ? nullptr : filter->name;
}

Result<std::unique_ptr<ByteStream>> unpack(ByteStream& packed, const std::string& by, const Spend& spend) {
  const auto* filter = std::find_if(std::begin(kFilters), std::end(kFilters),
                                    [&](const Filter& each) { return each.name == by; });
  if (by == "gzip") return std::unique_ptr<ByteStream>(new GzipStream(packed, spend));
  const LibArchive* library = LibArchive::get();
  if (library == nullptr) return libarchive_missing("is packed by " + by);
  auto stream = std::make_unique<FilterStream>(*library, packed, spend);
  ARCHGUARD_CHECK(stream->open(*filter));
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace archguard
