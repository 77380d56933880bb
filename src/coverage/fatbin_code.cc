#include "coverage/fatbin_code.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/budget.h"
#include "base/parallel.h"
#include "base/text.h"
#include "coverage/toolkit_symbols.h"
#include "fatbin/fatbin_cursor.h"
#include "fatbin/nvvm_image.h"

namespace archguard {
namespace {

// Has the image a suffix that its header leaves out? So nvcc 13.5 stores what tileiras makes of CUDA Tile for
// sm_90, sm_100 and sm_120, and clang of TensorFlow 2.17 to 2.21 its PTX of sm_90a.
bool lacks_suffix(const FatbinEntry& entry, const ImageKernels& code) {
  return code.archs.size() == 1 && entry.arch.suffix == Suffix::none &&
         code.archs[0].suffix != Suffix::none && code.archs[0].number == entry.arch.number;
}

// Has the header a suffix that the PTX has not? fatbinary takes such; a driver of CUDA 13.0 took PTX of sm_80
// under 80a for 9.0 (tests/truth).
bool adds_suffix(const FatbinEntry& entry, const ImageKernels& code) {
  return entry.kind == EntryKind::ptx && entry.arch.suffix != Suffix::none && code.archs.size() == 1 &&
         code.archs[0].suffix == Suffix::none && code.archs[0].number == entry.arch.number;
}

// Has the header a family that the cubin does not tell? nvcc 13.5 makes sm_100f of compute_90 with
// `ptxas -arch=sm_100`; nvJitLink 13.5 takes it for sm_100 and sm_103.
bool is_of_family(const FatbinEntry& entry, const ImageKernels& code) {
  return entry.kind == EntryKind::sass && code.archs.size() == 1 && entry.arch.suffix == Suffix::f &&
         code.archs[0].suffix == Suffix::none && code.archs[0].number == entry.arch.number;
}

// The driver goes by the fat binary's header, and then compiles PTX for what stands in it: nvJitLink 12.4 to
// 13.4 takes PTX of sm_90a with the header 90 for sm_100, and fails. An image must be for the arch that
// stands in its header, but for a suffix that lacks; PTX may be for an older one, where it has no suffix.
Status check_header(const FatbinEntry& entry, const ImageKernels& code) {
  const bool sass = entry.kind == EntryKind::sass;
  if (code.archs.empty()) return Error{{}, "PTX names no known `.target`", {}};
  const Arch own = code.archs[0], said = entry.arch;
  const bool same = std::find(code.archs.begin(), code.archs.end(), said) != code.archs.end();
  const bool older = own.number <= said.number && own.suffix == Suffix::none;
  if (!same && !lacks_suffix(entry, code) && !is_of_family(entry, code) && (sass || !older))
    return Error{{},
                 "its header says " + to_string(said) + ", the " + (sass ? "cubin" : "PTX") + " itself sm_" +
                     to_string(own),
                 {}};
  if (code.ptx_isa && entry.ptx_isa && *code.ptx_isa != *entry.ptx_isa)
    return Error{{},
                 "its header says PTX ISA " + to_string(*entry.ptx_isa) + ", the PTX itself " +
                     to_string(*code.ptx_isa),
                 {}};
  if (code.is32 && sass) return Error{{}, "32-bit cubin, which a 64-bit program cannot load", {}};
  return Done{};
}

// Of LTO-IR nothing: what its kernels are cannot be read.
Result<ImageKernels> read_code(const FatbinEntry& entry, const ByteSource& source, Inflater& inflater) {
  if (entry.kind == EntryKind::ltoir) {
    ARCHGUARD_TRY(image, entry.obfuscated ? inflater.stored(entry, source) : inflater.inflate(entry, source));
    ARCHGUARD_CHECK(fatbin::check_ltoir(entry, image));
    return ImageKernels{};
  }
  ARCHGUARD_TRY(bytes, inflater.inflate(entry, source));
  auto code = entry.kind == EntryKind::sass ? read_cubin(bytes) : read_ptx(bytes);
  if (code) ARCHGUARD_CHECK(check_header(entry, *code));
  return code;
}

// PTX of --relocatable-ptx holds all that the objects of a device link had, also what the linker left out of
// its SASS since nothing names it: it tells what is asked only where there is no SASS that does.
std::vector<const ImageKernels*> asking(const std::vector<Image>& images) {
  const bool sass = std::any_of(images.begin(), images.end(), [](const Image& image) {
    return image.entry.kind == EntryKind::sass && image.code &&
           !(image.code->kernels.empty() && image.code->variables.empty());
  });
  std::vector<const ImageKernels*> asking;
  for (const Image& image : images)
    if (image.code && !(sass && image.entry.kind == EntryKind::reloc_ptx)) asking.push_back(&*image.code);
  return asking;
}

// `images` have their kernels sorted by name.
std::vector<KernelName> union_of_kernels(const std::vector<Image>& images) {
  std::vector<const Kernel*> all;
  for (const ImageKernels* code : asking(images))
    for (const Kernel& kernel : code->kernels) all.push_back(&kernel);
  std::sort(all.begin(), all.end(), [](const Kernel* a, const Kernel* b) { return a->name < b->name; });
  std::vector<KernelName> kernels;
  for (const Kernel* kernel : all) {
    if (kernels.empty() || kernels.back().name != kernel->name) kernels.push_back({kernel->name, false});
    kernels.back().real |= kernel->state == KernelState::real;
  }
  const auto asks_nothing = [](const Kernel* kernel) { return is_toolkits_own(*kernel); };
  if (std::all_of(all.begin(), all.end(), asks_nothing)) kernels.clear();
  return kernels;
}

// `images` have their variables sorted by name. Textures and surfaces are registered as variables are, but an
// image may leave out those that its code does not use: they count where nothing else does.
std::vector<std::string> union_of_variables(const std::vector<Image>& images, bool references) {
  std::vector<const DeviceVariable*> all;
  for (const ImageKernels* code : asking(images))
    for (const DeviceVariable& variable : code->variables)
      if ((variable.space == VariableSpace::reference) == references) all.push_back(&variable);
  std::sort(all.begin(), all.end(),
            [](const DeviceVariable* a, const DeviceVariable* b) { return a->name < b->name; });
  std::vector<std::string> variables;
  for (const DeviceVariable* variable : all)
    if ((variables.empty() || variables.back() != variable->name) && !is_toolkits_own(*variable))
      variables.push_back(variable->name);
  return variables;
}

// What all the images of a file may inflate to: far more than real ones do (libtorch_cuda: 5 times its size).
std::uint64_t most_inflated(std::uint64_t file_size) {
  constexpr std::uint64_t kAlways = std::uint64_t{4} << 30, kFactor = 64;
  return file_size > UINT64_MAX / kFactor ? UINT64_MAX : std::max(kAlways, file_size * kFactor);
}

// SASS that is linked is no part for a linker, whatever says so of its fat binary.
bool any_whole(const std::vector<Image>& images) {
  return std::any_of(images.begin(), images.end(), [](const Image& image) {
    return image.entry.kind == EntryKind::sass && image.code && !image.code->relocatable;
  });
}

// What clang of 14 and older made for libomptarget stands among the data of a linked file: kernels tell it.
void mark_clangs_own(FatbinCode& code) {
  const auto is_own = [](const KernelName& kernel) { return starts_with(kernel.name, "__omp_offloading_"); };
  code.fatbin.offload |= code.fatbin.bare && std::any_of(code.kernels.begin(), code.kernels.end(), is_own);
}

// A file that is a fat binary of functions alone, which want some of other files: no driver can load it, and
// a linker may (nvJitLink; numba-cuda's link=[FILE]).
bool is_for_linker(const DeviceObject& object, const FatbinCode& code) {
  const Fatbin& fatbin = code.fatbin;
  return object.linked && fatbin.offset == 0 && fatbin.section.empty() && !fatbin.bare && !fatbin.offload &&
         code.kernels.empty() && std::any_of(code.images.begin(), code.images.end(), [](const Image& image) {
           return image.code && image.code->names.defines && !image.code->unresolved.empty();
         });
}

bool names_any(const FatbinCode& code) {
  return !code.kernels.empty() || !code.variables.empty();
}

bool is_read(const FatbinEntry& entry) {
  const bool is_bitcode = entry.kind == EntryKind::ltoir && entry.own_arch;
  return entry.kind != EntryKind::other && !is_bitcode && entry.unknown.empty() && !entry.optix;
}

// Images are small in the median and up to 134 MB. All buffers together may hold twice the largest image, and
// so much beside; and so many images' kernels may wait for their turn.
constexpr std::uint64_t kBeside = std::uint64_t{44} << 20;
constexpr std::size_t kImagesAhead = 32;
// Less than this to inflate, and a second thread is not worth its start.
constexpr std::uint64_t kWorthThreads = std::uint64_t{1} << 20;

using Listed = std::pair<const DeviceObject*, const Fatbin*>;

// The images of some fat binaries.
struct Images {
  struct Work {
    const DeviceObject* object;
    const FatbinEntry* entry;
    bool within_limit;
  };

  // `total` is what the fat binaries before these inflate to.
  Images(const std::vector<Listed>& fatbins, const ByteSource& source, std::uint64_t& total)
      : file(source),
        limit(most_inflated(source.size())),
        work(work_of(fatbins, total)),
        inflaters(all_needs < kWorthThreads ? 1 : threads_to_use()),
        kept(kept_by_each()),
        beyond_kept(most_held() - std::min(most_held(), kept * inflaters.size())),
        images(
            work.size(), kImagesAhead,
            [this](std::size_t i, unsigned thread) { return read(work[i], inflaters[thread]); },
            static_cast<unsigned>(inflaters.size())) {}

  std::vector<Work> work_of(const std::vector<Listed>& fatbins, std::uint64_t& total) {
    std::vector<Work> all;
    for (const auto& [object, fatbin] : fatbins)
      for (const FatbinEntry& entry : fatbin->entries) {
        if (!is_read(entry)) continue;
        const std::uint64_t needs = inflating_needs(entry);
        const std::uint64_t size = entry.obfuscated ? entry.stored_size : entry.uncompressed_size;
        if (needs != 0 && entry.compression != Compression::none) total += size;
        all.push_back({object, &entry, total <= limit});
        if (total > limit) continue;
        largest = std::max(largest, size);
        largest_need = std::max(largest_need, needs);
        all_needs += needs;
      }
    return all;
  }

  Result<ImageKernels> read(const Work& each, Inflater& inflater) {
    if (!each.within_limit)
      return Error{"entry at " + hex(each.entry->offset),
                   "images inflate to more than " + count_of(limit, "byte") + " in all, the rest is not read",
                   {}};
    const std::uint64_t needs = inflating_needs(*each.entry);
    if (needs <= kept) return read_code(*each.entry, bytes_of(*each.object, file), inflater);
    inflater.shrink(0);
    const Share share(beyond_kept, needs - kept);
    auto code = read_code(*each.entry, bytes_of(*each.object, file), inflater);
    inflater.shrink(kept);
    return code;
  }

  std::uint64_t most_held() const { return 2 * largest + kBeside; }
  // Each thread keeps buffers of this size for its next image; small enough that the largest image still has
  // room beside what the others keep. Who needs more shares the rest.
  std::uint64_t kept_by_each() const {
    if (inflaters.size() == 1) return largest_need;
    return (most_held() - std::min(most_held(), largest_need)) / (inflaters.size() - 1);
  }

  const ByteSource& file;
  const std::uint64_t limit;
  std::uint64_t largest = 0;                      // image
  std::uint64_t largest_need = 0, all_needs = 0;  // of the images' inflating_needs()
  const std::vector<Work> work;
  std::vector<Inflater> inflaters;
  const std::uint64_t kept;
  Budget beyond_kept;
  InOrder<Result<ImageKernels>> images;  // last: its threads use the others
};

// So many fat binaries and entries are in hand at once; of more, the threads wait at the seams.
constexpr std::size_t kInHand = 1 << 14;

}  // namespace

struct FatbinCodeReader::State {
  // Takes the next fat binaries in hand: none behind the last, and where the rest cannot be read back.
  void take_next() {
    images.reset();
    in_hand.clear();
    unpacked.clear();
    next = 0;
    for (std::size_t size = 0; size < kInHand && !failure;) {
      const Fatbin* fatbin = cursor ? cursor->next(unpacked.emplace_back()) : nullptr;
      if (fatbin != nullptr) {
        in_hand.push_back({&cursor->object(), fatbin});
        size += fatbin->entries.size() + 1;
        if (fatbin != &unpacked.back()) unpacked.pop_back();
        continue;
      }
      if (cursor) failure = cursor->failure();
      if (next_object == code.objects.size()) break;
      cursor.emplace(code.objects[next_object++]);
    }
    images.emplace(in_hand, file, total);
  }

  const DeviceCode& code;
  const ByteSource& file;
  std::size_t next_object = 0;
  std::optional<FatbinCursor> cursor = {};
  std::optional<Error> failure = {};  // the cursor's
  std::vector<Listed> in_hand = {};
  std::deque<Fatbin> unpacked = {};   // of those in hand
  std::size_t next = 0;               // of those in hand
  std::uint64_t total = 0;            // what those in hand and before inflate to
  std::optional<Images> images = {};  // of those in hand
};

FatbinCodeReader::FatbinCodeReader(const DeviceCode& code, const ByteSource& file)
    : state_(new State{code, file}) {}
FatbinCodeReader::~FatbinCodeReader() = default;

FatbinCode FatbinCodeReader::next() {
  FatbinCode code;
  if (state_->next == state_->in_hand.size() && !state_->failure) state_->take_next();
  if (state_->next == state_->in_hand.size()) {
    if (state_->failure) code.errors.push_back(*state_->failure);
    return code;
  }
  const auto [object, fatbin] = state_->in_hand[state_->next++];
  code.fatbin = *fatbin;
  code.linked = object->linked;
  for (const FatbinEntry& entry : fatbin->entries) {
    Image image{entry, std::nullopt, entry.unknown};
    if (entry.kind == EntryKind::other && image.unknown.empty())
      image.unknown = "image of unknown kind " + hex(entry.kind_code);
    if (is_read(entry)) {
      auto read = state_->images->images.next();
      if (read && entry.kind != EntryKind::ltoir) {
        image.code = std::move(read).value();
        if (lacks_suffix(entry, *image.code) || adds_suffix(entry, *image.code)) {  // it is to fit as both
          image.entry.arch = image.code->archs[0];
          image.entry.or_archs = {entry.arch};
        }
        if (is_of_family(entry, *image.code)) image.entry.or_archs = {image.code->archs[0]};
        for (const Error& warning : image.code->warnings)
          code.warnings.push_back({where(*object, *fatbin), warning.what, warning.fix});
      } else if (!read) {
        image.unknown = read.error().what;  // without the offset: like causes are told once
        code.errors.push_back({where(*object, *fatbin), read.error().text(), read.error().fix});
      }
    } else if (!image.unknown.empty() && !fatbin->bare &&
               !is_tile_ir(entry)) {  // the program may well not choose it
      code.errors.push_back(
          {where(*object, *fatbin), "unknown image: " + image.unknown, fix_of_unknown(entry)});
    }
    code.images.push_back(std::move(image));
  }
  if (code.linked && any_whole(code.images)) code.fatbin.relocatable = false;
  code.kernels = union_of_kernels(code.images);
  code.variables = union_of_variables(code.images, false);
  if (!names_any(code)) code.variables = union_of_variables(code.images, true);
  mark_clangs_own(code);
  if (is_for_linker(*object, code)) {
    code.fatbin.relocatable = true;
    code.linked = false;
  }
  return code;
}

bool is_for_offload_library(const FatbinCode& code) {
  return code.fatbin.offload && !code.fatbin.for_runtime;
}

bool asks_for_image(const FatbinCode& code) {
  return names_any(code) || std::any_of(code.images.begin(), code.images.end(),
                                        [](const Image& image) { return !image.unknown.empty(); });
}

void add_warnings(const FatbinCode& code, std::vector<Error>& warnings) {
  constexpr std::size_t kMost = 16;  // of one file
  for (const Error& warning : code.warnings) {
    const auto same = [&](const Error& other) { return other.what == warning.what; };
    if (warnings.size() < kMost && std::none_of(warnings.begin(), warnings.end(), same))
      warnings.push_back(warning);
  }
}

}  // namespace archguard
