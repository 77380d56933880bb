#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "host/byte_stream.h"

namespace archguard {

// The part of libarchive's archive.h and archive_entry.h that is called, as it is since 3.4. The library is
// loaded when the first file needs it.
struct LibArchive {
  using Reader = void*;
  using Entry = void*;
  using Read = std::ptrdiff_t (*)(Reader reader, void* user, const void** bytes);
  using Skip = std::int64_t (*)(Reader reader, void* user, std::int64_t count);

  // What its functions return, beside counts.
  static constexpr int kEnd = 1, kFine = 0, kWarning = -20, kFatal = -30;

  Reader (*create)();
  int (*release)(Reader reader);
  int (*add_filter)(Reader reader, int filter);
  int (*add_raw)(Reader reader);
  int (*add_empty)(Reader reader);
  int (*add_tar)(Reader reader);
  int (*add_cpio)(Reader reader);
  int (*open)(Reader reader, void* user, void* opened, Read read, Skip skip, void* closed);
  int (*next_header)(Reader reader, Entry* entry);
  std::ptrdiff_t (*read_data)(Reader reader, void* bytes, std::size_t size);
  int (*skip_data)(Reader reader);
  std::int64_t (*bytes_done)(Reader reader, int filter);
  const char* (*error_text)(Reader reader);
  const char* (*name)(Entry entry);
  const char* (*name_utf8)(Entry entry);
  const char* (*hard_link)(Entry entry);
  const char* (*hard_link_utf8)(Entry entry);
  const char* (*link)(Entry entry);
  const char* (*link_utf8)(Entry entry);
  unsigned (*file_type)(Entry entry);
  unsigned (*links)(Entry entry);
  std::int64_t (*size)(Entry entry);

  // Null where it is missing, or older.
  static const LibArchive* get();
};

// What is said then of a file that `is`: "is packed by xz".
Error libarchive_missing(const std::string& is);

// A reader of libarchive's over a stream, and what the stream failed with.
class ArchiveReader {
 public:
  ArchiveReader(const LibArchive& library, ByteStream& stream);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // After the reader was told what to take.
  Status open();
  LibArchive::Reader get() const { return reader_; }
  // Why the last call did not succeed.
  Error error();
  // How many bytes the stream gave, up to the last that is not zero.
  std::uint64_t last_byte() const { return last_byte_; }
  std::uint64_t given() const { return given_; }  // all of them
  // Reads what the library left of the stream.
  Status drain();

 private:
  static std::ptrdiff_t read(LibArchive::Reader reader, void* self, const void** bytes);
  static std::int64_t skip(LibArchive::Reader reader, void* self, std::int64_t count);
  Result<std::size_t> more();

  const LibArchive& library_;
  ByteStream& stream_;
  LibArchive::Reader reader_;
  Bytes bytes_;
  std::uint64_t given_ = 0, last_byte_ = 0;
  std::optional<Error> error_;  // of the stream
};

}  // namespace archguard
