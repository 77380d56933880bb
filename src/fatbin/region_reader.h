#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fatbin/fatbin.h"
#include "fatbin/fatbin_reader.h"
#include "fatbin/image_finder.h"
#include "fatbin/signature.h"
#include "host/host_file.h"
#include "io/window.h"

namespace archguard::fatbin {

constexpr std::size_t kErrorsMost = 16;  // of one object; bounds the work on a file made of damage

enum class RegionKind {
  nvidia,   // fat binaries
  offload,  // what clang's offload driver writes, and
  bundle,   // what its older one does (offload_reader.h)
};

// A part of the object: a section of device code, or what lies between two of them.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string section;
  std::uint64_t section_offset = 0;
  bool relocatable = false;
  RegionKind kind = RegionKind::nvidia;
};

struct FoundError {
  std::size_t after = 0;  // how many fat binaries were found before it
  std::string section;
  std::uint64_t section_offset = 0;
  Error error;  // `where` is the offset within the object, in hex
};

// What a region holds, in the file's order.
struct Found {
  std::vector<Fatbin> fatbins;
  std::vector<FoundError> errors;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // where the search stopped: behind the last fat binary, or at the end of its part
  bool cut = false;       // it has more entries than it was allowed, or more than kErrorsMost errors
  // Cut: `end` is where to go on, with these. Not in a region of clang's.
  bool searching = false;
  std::uint64_t last_end = 0;  // of the last fat binary

  // Makes it what a search from `offset` finds; false where this one, from `begin`, cannot tell.
  bool drop_before(std::uint64_t offset);
};

// How many it begins with.
std::size_t count_zeros(ByteView bytes);

// Reads regions of one object, one after the other. Each thread has its own.
class RegionReader {
 public:
  // `sections` by offset, with bytes, to name what is found between the regions; outlive the reader. Of one
  // region at most `entries_most` are read.
  RegionReader(const ByteSource& source, const std::vector<const Section*>& sections,
               std::size_t entries_most);

  // What follows behind what was cut: with a `stop` by search(), else by walk().
  Found go_on(const Region& region, const Found& cut, std::optional<std::uint64_t> stop);

  // A region that holds nothing but fat binaries, at multiples of 8 from its start, with zero bytes between.
  // Anything else is an error, and what follows is searched.
  Found walk(const Region& region);

  // Looks for fat binaries by signature that start in [begin, stop) and end within the region, and for bare
  // images. A magic that no header follows is chance: code that makes fat binaries holds it as a constant.
  // One that a damaged header follows, at a multiple of 8, is an error.
  Found search(const Region& region, std::uint64_t begin, std::uint64_t stop);

 private:
  void start(std::uint64_t begin);
  Found walk_from(const Region& region, std::uint64_t at);
  Found walk_offload(const Region& region);  // in offload_walk.cc, as the next two
  Found walk_bundle(const Region& region);
  void add_offloaded(std::optional<Fatbin>& fatbin);
  void search_in(const Region& region, std::uint64_t begin, std::uint64_t stop, bool images);
  std::optional<std::uint64_t> take_image(const Region& region, std::uint64_t at, std::uint64_t end,
                                          SignatureKind kind);
  std::uint64_t add(const Region& region, Fatbin fatbin);
  std::optional<std::uint64_t> take_fatbin(const Region& region, std::uint64_t at, std::uint64_t end);
  void add_damaged(const Region& region, std::uint64_t at, std::uint64_t end);
  void add_error(const Region& region, Error error);
  std::uint64_t skip_hole(std::uint64_t at);
  const Section* section_at(std::uint64_t offset) const;

  const std::vector<const Section*>& sections_;
  Window in_;
  Extent data_;  // around what was read last
  FatbinReader reader_;
  ImageFinder images_;
  std::size_t entries_most_;
  Found found_;
  std::size_t entries_ = 0;
};

}  // namespace archguard::fatbin
