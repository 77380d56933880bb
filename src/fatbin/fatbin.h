#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/version.h"
#include "compat/arch.h"
#include "fatbin/passed_over.h"

namespace archguard {

enum class EntryKind { ptx, sass, ltoir, reloc_ptx, other };
enum class Compression { none, lz4, zstd };

// One image of a fat binary: its header, not its bytes.
struct FatbinEntry {
  std::uint64_t offset = 0;  // of the entry's header, within the object (file or member)
  EntryKind kind = EntryKind::other;
  std::uint16_t kind_code = 0;  // as the file has it
  Arch arch;
  std::vector<Arch> or_archs;      // that it may be for as well: a bare cubin that does not tell its suffix
  std::optional<Version> ptx_isa;  // of PTX
  Compression compression = Compression::none;
  bool obfuscated = false;
  std::uint64_t flags = 0;
  std::string unknown;  // what this reader does not know of it ("flag 0x4000000"); never covered then
  std::uint64_t payload_offset = 0;  // within the object
  std::uint64_t stored_size =
      0;  // bytes that the file holds of it: the compressed size where it is compressed
  std::uint64_t uncompressed_size = 0;  // equals stored_size for a raw one
  std::string identifier;               // the source's name, with -G or -lineinfo
  bool optix = false;  // PTX that OptiX compiles (optix_ptx.h), not the driver's module loader
  // clang-linker-wrapper makes SASS of its own arch of it and nothing else: PTX, and LLVM's bitcode
  // (-foffload-lto), whose kind is `ltoir`, too.
  bool own_arch = false;
  // Of LTO-IR: the minor version of its container, which tells the CUDA that made it (compat/toolkit.h); 0:
  // not told.
  std::uint16_t ltoir_version = 0;
};

// One fat binary: what the runtime registers as one, and the driver chooses one image from.
struct Fatbin {
  std::uint64_t offset = 0;          // of its magic, within the object
  std::uint64_t size = 0;            // header and entries
  std::string section;               // ".nv_fatbin"; empty where no section holds it
  std::uint64_t section_offset = 0;  // of the section within the object, 0 without one
  // A part of -rdc=true for a linker: from __nv_relfatbin, or registered as one, or `bare`. A file that is
  // one relocatable cubin is none: what a driver does with it is asked, as of a fat binary of it.
  bool relocatable = false;
  // In an object, relocatable, and not the first of `__nv_relfatbin`: nvlink reads that one alone, and says
  // nothing of those behind it, which `ld -r` and `gcc -r` put there (seen, nvlink 13.0 and 13.5).
  bool behind_another = false;
  // In a linked file, and neither in a section of device code nor known to be registered: the program hands
  // it to the driver or to a linker itself, or no section table tells what it is.
  bool in_data = false;
  // No fat binary: one image that stands in a host file as data, which the program hands to the driver itself
  // (bin2c, `.incbin`, CMake's CUDA_PTX_COMPILATION). `offset` is where it begins.
  bool bare = false;
  // Made by clang's offload driver (--offload-arch) for OpenMP, SYCL or CUDA; never with the runtime's
  // registration.
  bool offload = false;
  // `offload`, and clang's link step registers with the CUDA runtime what it makes of it: CUDA's. Else the
  // library of OpenMP or SYCL hands it to the driver.
  bool for_runtime = false;
  // Bare, and right behind the header of a fat binary's entry: the beginning of that fat binary is lost. Such
  // ones become errors, and are not among DeviceObject::fat binaries.
  bool orphan = false;
  // Of no entries, and host code registers it, as nvprune leaves what has none of the architectures that it
  // keeps (seen with that of 11.8).
  bool emptied = false;
  bool packed = false;  // its entries are in DeviceObject::packed
  std::vector<FatbinEntry> entries;
};

namespace fatbin {
class PackedFatbins;
}

// Fat binaries that were packed, one after the other: fatbin/fatbin_cursor.h reads them.
struct PackedPart {
  std::shared_ptr<const fatbin::PackedFatbins> in;  // null where there are none
  std::uint64_t begin = 0;
  std::size_t count = 0;
};

// What is kept of a file's fat binaries.
enum class Keep {
  all,  // each with its entries
  // The first 65,536 fat binaries and entries; the rest is packed into few bytes, on disk where these are
  // many, to be read one after the other: for files of any size.
  first,
};

// What host code hands to the CUDA runtime for one fat binary, a "wrapper", when its file is loaded.
struct Registration {
  bool device_linked = false;         // made by the device linker; else by an object's compiler
  std::optional<std::size_t> fatbin;  // in DeviceObject::fat binaries; nothing where the file does not tell
  std::string module_id;  // of an object made with -rdc=true: names it for the device linker; else empty
};

// Which objects the device linker joined, as far as the file tells: their ids. Several links where they
// cannot be told apart.
struct DeviceLinkIds {
  std::vector<std::size_t> linked;  // what came out, in DeviceObject::fat binaries
  std::vector<std::string> ids;
  bool all = false;  // the ids do not tell: any relocatable fat binary of the object
};

// What a linked file's host code names of its device code made with -rdc=true: nothing else can be missed by
// it.
struct HostReferences {
  bool told = false;     // by every object that nvcc made; those of another compiler do not tell
  bool program = false;  // else other files may name what this one holds
  std::vector<std::string> beginnings;  // of the names of kernels and variables, sorted
  std::vector<std::string> names;       // whole, sorted; a `*` stands for any text
  // Kernels among these that the data of the host code has by their whole name, as what registers them needs
  // it; where an object holds LTO-IR, whose kernels are not read.
  std::vector<std::string> registered;

  // `name` is mangled.
  bool does_name(std::string_view name) const;
  // Is there an entry for it, or its template? What is static in a file is listed by its own name behind the
  // mark of the file and a `*`. False of others with a `*`, which may stand for others.
  bool lists(std::string_view name) const;
  bool may_name(std::string_view name) const;  // faster: by the beginning alone
};

// The device code of one host object.
struct DeviceObject {
  std::string path;
  std::string member;             // archive member, empty for the file itself
  std::uint64_t file_offset = 0;  // of the object within the file
  std::uint64_t file_size = 0;    // of the object's bytes
  std::shared_ptr<const ByteSource>
      elsewhere;  // the file that holds it, where that is another: thin archives
  bool linked = true;
  bool has_sections = true;   // false: a linked file whose section table was removed
  bool registers = false;     // hands fat binaries to the CUDA runtime; true where there is no section table
  bool data_missing = false;  // a section for device code has no bytes (objcopy --only-keep-debug)
  std::vector<Fatbin>
      fatbins;        // ascending offset; a bare cubin or PTX file is one fat binary of one entry at 0
  PackedPart packed;  // with Keep::first: the entries of those that are marked so, and all behind them
  // Functions that a linked file imports to compile or load device code at run time: nvrtcCompileProgram,
  // cuModuleLoadData, …; sorted. What they make stands in no file.
  std::vector<std::string> runtime_code;
  std::vector<Registration> registrations;  // in the order of the file; empty: the runtime gets nothing
  std::vector<DeviceLinkIds> link_ids;
  HostReferences references;  // of a linked file with a device link

  bool holds_fatbins() const { return !fatbins.empty() || packed.count != 0; }
};

struct FatbinRef {
  std::size_t object = 0;  // in DeviceCode::objects
  std::size_t fatbin = 0;  // in its fat binaries
};

// Fat binaries that the device linker made, and the relocatable ones that it made them of: the driver can
// link those again (docs/reference/compatibility.md#linking-again).
struct DeviceLink {
  std::vector<FatbinRef> linked;  // one; several where the file does not tell them apart
  std::vector<FatbinRef> parts;
  std::vector<std::string> absent;  // ids of objects that are not in this file, or cannot be found in it
};

struct DeviceCode {
  std::string member;                 // of a zip file, which is what these bytes are; else empty
  std::vector<DeviceObject> objects;  // one for each host object, also where it holds no fat binary
  std::vector<DeviceLink> links;      // of separate compilation (-rdc=true)
  std::vector<Error> errors;  // what could not be read or is not understood; then the file was not read whole
  std::vector<std::string> bitcode;   // objects of LLVM's bitcode or MSVC's /GL, as their errors name them
  std::vector<std::string> warnings;  // "-": e.g. sections without bytes
  PassedOver passed_over;             // members of a zip file
  std::optional<std::uint64_t> packed_at;  // where packed bytes stand in a program, which were not read
  bool archive = false;
  bool recognized = true;  // false: a file of no known format, which a walk over a folder passes over
};

// Adds the object's, so that `functions` stays sorted and has none twice.
void add_runtime_code(const DeviceObject& object, std::vector<std::string>& functions);

// sm_90a, compute_90, lto_90: what nvcc calls such an image; "sm_100 or sm_100f" where it does not tell its
// suffix; "kind 0x55 of 90" for one that is not known.
std::string image_name(const FatbinEntry& entry);

// Is it code of CUDA Tile that a driver compiles, and else as it should be? It is unknown, and the file was
// read whole all the same.
bool is_tile_ir(const FatbinEntry& entry);

// What to do about an entry that is `unknown`; empty where nobody knows.
std::string fix_of_unknown(const FatbinEntry& entry);

// Every fat binary of the file: in its sections, and found by signature anywhere else in it but in sections
// that say that they hold no data (Section::data). `member` names the file where it is one of a zip file.
// Large files are read by several threads at once, here and in FatbinCodeReader: read() of `source` must
// allow it.
DeviceCode read_device_code(const ByteSource& source, const std::string& path, const std::string& member = {},
                            Keep keep = Keep::all);

// The same for a file of no known format, which is data of a program: what images stand in it.
DeviceCode search_device_code(const ByteSource& source, const std::string& path,
                              const std::string& member = {}, Keep keep = Keep::all);

// Is it a zip file, an archive or a package, whose members are files of their own? What is only compressed
// looks the same.
bool holds_files(const ByteSource& source);
// Is it the index.json of a container image that was saved into a folder (OCI Image Layout)?
bool is_saved_image(const std::string& path);

using VisitDeviceCode = std::function<void(const DeviceCode&, const ByteSource&)>;
// Told before each member of a zip file how many are done, of how many that it says it has.
using MembersRead = std::function<void(std::uint64_t done, std::uint64_t members)>;

// The same for each file that is in the file: itself, or the members of a wheel or another zip file, which
// are no parts of it, since they are inflated. `visit` gets the bytes too, good until it returns. Members of
// no known format are searched or passed over as other_file.h says; what is wrong with the zip file itself,
// and which of its members may hold code and were not read, comes last, without objects. `visit` is called at
// least once, and by the caller's thread alone. Several members are read at once; memory and disk are bounded
// as fatbin/zip_visitor.h says.
void visit_device_code(const ByteSource& source, const std::string& path, const VisitDeviceCode& visit,
                       const MembersRead& progress = {}, Keep keep = Keep::all);

// The same for what stands behind a program, which is no zip file itself: a self-extracting one.
void visit_code_behind(const ByteSource& program, const std::string& path, const VisitDeviceCode& visit,
                       const MembersRead& progress = {}, Keep keep = Keep::all);

// The object's own bytes within its file, for inflate().
PartSource bytes_of(const DeviceObject& object, const ByteSource& file);

// The image itself. Refuses, before it allocates, a size that the stored bytes cannot hold. `source` is the
// object's.
Result<Bytes> inflate(const FatbinEntry& entry, const ByteSource& source);

// What inflate() of this image holds in memory at once, its stored bytes and itself (of an obfuscated one,
// which is not inflated, the stored bytes); 0 where the sizes in its header alone make it refused.
std::uint64_t inflating_needs(const FatbinEntry& entry);

// The same for many images: keeps its buffers, so that only the largest image costs memory. One per thread.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The image, good until the next call.
  Result<ByteView> inflate(const FatbinEntry& entry, const ByteSource& source);
  // The bytes that the file holds of it, as they are: all that can be had of an obfuscated one.
  Result<ByteView> stored(const FatbinEntry& entry, const ByteSource& source);
  // Gives the buffers back where they have more than `most` bytes in all; the last image is gone then.
  void shrink(std::uint64_t most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where a message points: "libfoo.so(.nv_fatbin+0x1a40)", "libfoo.a(x.o)(.nv_fatbin+0x40)": from the start of
// the section, as disassemblers count; from that of the object where no section holds it.
std::string where(const DeviceObject& object, const Fatbin& fatbin);
std::string place_name(const std::string& object, const std::string& section, std::uint64_t offset);

}  // namespace archguard
