#include "host/libarchive.h"

#include <algorithm>

#include "io/shared_library.h"

namespace archguard {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;

const LibArchive* load_libarchive() {
  static LibArchive library{};
  const SharedLibrary file("libarchive.so.13");
  const bool whole =
      file.bind("archive_read_new", library.create) && file.bind("archive_read_free", library.release) &&
      file.bind("archive_read_append_filter", library.add_filter) &&
      file.bind("archive_read_support_format_raw", library.add_raw) &&
      file.bind("archive_read_support_format_empty", library.add_empty) &&
      file.bind("archive_read_support_format_tar", library.add_tar) &&
      file.bind("archive_read_support_format_cpio", library.add_cpio) &&
      file.bind("archive_read_open2", library.open) &&
      file.bind("archive_read_next_header", library.next_header) &&
      file.bind("archive_read_data", library.read_data) &&
      file.bind("archive_read_data_skip", library.skip_data) &&
      file.bind("archive_filter_bytes", library.bytes_done) &&
      file.bind("archive_error_string", library.error_text) &&
      file.bind("archive_entry_pathname", library.name) &&
      file.bind("archive_entry_pathname_utf8", library.name_utf8) &&
      file.bind("archive_entry_hardlink", library.hard_link) &&
      file.bind("archive_entry_hardlink_utf8", library.hard_link_utf8) &&
      file.bind("archive_entry_symlink", library.link) &&
      file.bind("archive_entry_symlink_utf8", library.link_utf8) &&
      file.bind("archive_entry_filetype", library.file_type) &&
      file.bind("archive_entry_nlink", library.links) && file.bind("archive_entry_size", library.size);
  int (*version)() = nullptr;
  constexpr int kOldest = 3'004'000;
  return whole && file.bind("archive_version_number", version) && version() >= kOldest ? &library : nullptr;
}

}  // namespace

const LibArchive* LibArchive::get() {
  static const LibArchive* const library = load_libarchive();
  return library;
}

Error libarchive_missing(const std::string& is) {
  return {{},
          is + ", and libarchive.so.13 is missing",
          "apt install libarchive13 (libarchive13t64 from Debian 13 on), or unpack it and name the folder"};
}

ArchiveReader::ArchiveReader(const LibArchive& library, ByteStream& stream)
    : library_(library), stream_(stream), reader_(library.create()), bytes_(kReadAtOnce) {}

ArchiveReader::~ArchiveReader() {
  if (reader_ != nullptr) library_.release(reader_);
}

Status ArchiveReader::open() {
  if (reader_ == nullptr) return Error{{}, "no memory for libarchive", {}};
  const int state = library_.open(reader_, this, nullptr, read, skip, nullptr);
  if (state != LibArchive::kFine) return error();
  return Done{};
}

Error ArchiveReader::error() {
  if (error_) return *error_;
  const char* text = library_.error_text(reader_);
  return Error{{},
               std::string("is damaged or cut: ") + (text != nullptr ? text : "libarchive does not tell how"),
               "get it again; or, if the program that made it unpacks it, name the folder"};
}

Result<std::size_t> ArchiveReader::more() {
  auto count = stream_.next(bytes_.data(), bytes_.size());
  if (!count) {
    error_ = count.error();
    return count;
  }
  std::size_t end = *count;
  while (end != 0 && bytes_[end - 1] == 0) --end;
  if (end != 0) last_byte_ = given_ + end;
  given_ += *count;
  return count;
}

std::ptrdiff_t ArchiveReader::read(LibArchive::Reader, void* self, const void** bytes) {
  auto& reader = *static_cast<ArchiveReader*>(self);
  const auto count = reader.more();
  if (!count) return LibArchive::kFatal;
  *bytes = reader.bytes_.data();
  return static_cast<std::ptrdiff_t>(*count);
}

std::int64_t ArchiveReader::skip(LibArchive::Reader, void* self, std::int64_t count) {
  auto& reader = *static_cast<ArchiveReader*>(self);
  if (count <= 0) return 0;
  const std::uint64_t skipped = reader.stream_.skip(static_cast<std::uint64_t>(count));
  reader.given_ += skipped;
  return static_cast<std::int64_t>(skipped);
}

Status ArchiveReader::drain() {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;  // tapes have blocks of less
  for (std::uint64_t drained = 0; drained <= kMost;) {
    ARCHGUARD_TRY(count, more());
    if (count == 0) return Done{};
    drained += count;
  }
  return Error{
      {}, "has more than 64 MiB behind its end, which are not read", "unpack it and name the folder"};
}

}  // namespace archguard
