#include "loader/search.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kNotedMost = 2'000;  // places kept for messages, over all libraries that are missing
constexpr std::size_t kSearchPathMost = 4096;
constexpr std::size_t kTriedMost = 10'000, kTriedBytesMost = std::size_t{4} << 20;
constexpr std::uint64_t kCacheMost = std::uint64_t{16} << 20;

// How Debian names a machine's folders, what the kernel calls it (AT_PLATFORM; glibc before 2.37 says
// "haswell" for some of Intel's processors instead), and its subfolders of glibc-hwcaps.
struct Machine {
  unsigned number;
  bool is64;
  const char* folder;
  const char* platform;
  std::array<const char*, 3> variants = {};
};
constexpr Machine kMachines[] = {
    {62, true, "x86_64-linux-gnu", "x86_64", {"x86-64-v4", "x86-64-v3", "x86-64-v2"}},
    {3, false, "i386-linux-gnu", "i686"},
    {183, true, "aarch64-linux-gnu", "aarch64"},
    {21, true, "powerpc64le-linux-gnu", "power8", {"power10", "power9"}},
    {40, false, "arm-linux-gnueabihf", "v7l"},
    {243, true, "riscv64-linux-gnu", "riscv64"},
};
constexpr const char* kVariantsFolder = "glibc-hwcaps";

const Machine* find_machine(unsigned number, bool is64) {
  for (const Machine& machine : kMachines)
    if (machine.number == number && machine.is64 == is64) return &machine;
  return nullptr;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

// Calls `visit` with each folder of the list, until it says true.
template <typename Visit>
bool LoaderSearch::any_folder(const std::string& list, const char* separators, const std::string& origin,
                              Visit visit) const {
  if (list.empty()) return false;
  for (std::size_t begin = 0; begin <= list.size() && !exhausted();) {
    const auto end = std::min(list.find_first_of(separators, begin), list.size());
    const std::string folder = expand(std::string_view(list).substr(begin, end - begin), origin);
    if (visit(folder.empty() ? "." : folder)) return true;
    begin = end + 1;
  }
  return false;
}

LoaderSearch::LoaderSearch(const LoaderFolders& folders, const LoadedFile& first)
    : is64_(first.dynamic.is64),
      machine_(first.dynamic.machine),
      lib_(is64_ ? "lib64" : "lib"),
      defaults_(folders.defaults),
      rpath_link_(folders.rpath_link),
      sysroot_(folders.sysroot),
      cache_path_(folders.sysroot + folders.cache) {
  const Machine* machine = find_machine(machine_, is64_);
  if (machine != nullptr) platform_ = machine->platform;
  if (machine != nullptr) variants_ = machine->variants;
  const std::string multiarch = machine == nullptr ? "" : std::string("lib/") + machine->folder;
  if (machine != nullptr && is_folder(sysroot_ + "/" + multiarch))
    lib_ = multiarch;  // a loader that Debian built
  if (defaults_.empty()) {
    if (machine != nullptr) defaults_ = {"/" + multiarch, "/usr/" + multiarch};
    if (is64_) defaults_.insert(defaults_.end(), {"/lib64", "/usr/lib64"});
    defaults_.insert(defaults_.end(), {"/lib", "/usr/lib"});
  }
  for (std::string& folder : defaults_) folder.insert(0, sysroot_);
  any_folder(folders.library_path, ":;", first.origin, [&](const std::string& folder) {
    library_path_.push_back(folder);
    return false;
  });
}

LoaderSearch::Answer LoaderSearch::find(const std::string& needed, const std::vector<LoadedFile>& loaded,
                                        std::size_t asker) {
  Answer answer;
  const LoadedFile& by = loaded[asker];
  const std::string name = expand(needed, by.origin);
  if (name.find('/') != std::string::npos) {
    if (!try_file(name, answer)) note(name, answer);
    return answer;
  }
  // RPATH of the file and of those that it was loaded for, unless the file has a RUNPATH; in each, RUNPATH
  // beats RPATH.
  if (by.dynamic.runpath.empty()) {
    for (std::optional<std::size_t> at = asker; at; at = loaded[*at].asker) {
      const LoadedFile& file = loaded[*at];
      if (!file.dynamic.runpath.empty()) continue;
      if (try_run_path(file.dynamic.rpath, file, name, answer)) return answer;
    }
  }
  if (try_folders(library_path_, name, answer)) return answer;
  if (try_run_path(by.dynamic.runpath, by, name, answer)) return answer;
  if (try_cache(name, by.dynamic.no_default_folders, answer)) return answer;
  if (!by.dynamic.no_default_folders && try_folders(defaults_, name, answer)) return answer;
  answer.by_linker = try_folders(rpath_link_, name, answer);
  return answer;
}

// Is this the file that the loader takes? One of another class or machine is passed over, and so is one that
// cannot be opened; what is no ELF file, or is damaged, is taken, and the loader ends there.
std::optional<LoadedFile> LoaderSearch::take_file(const std::string& path) {
  if (exhausted()) return std::nullopt;
  ++lookups_;
  auto source = FileSource::open(path);
  if (!source) {
    keep_tried(path);
    return std::nullopt;
  }
  LoadedFile file{path, {}, folder_of(path), {}};
  auto dynamic = read_elf_dynamic(*source);
  if (!dynamic) {
    file.error = Error{path, dynamic.error().what, {}};
  } else if (*dynamic) {
    if ((*dynamic)->is64 != is64_ || (*dynamic)->machine != machine_) {
      keep_tried(path);
      return std::nullopt;
    }
    file.dynamic = std::move(**dynamic);
  }
  return file;
}

bool LoaderSearch::try_file(const std::string& path, Answer& answer) {
  answer.file = take_file(path);
  return answer.file.has_value();
}

void LoaderSearch::add_variant(const std::string& path, Answer& answer) {
  if (auto file = take_file(path)) answer.variants.push_back(std::move(*file));
}

// `folder` ends in a slash.
void LoaderSearch::add_variants(const std::string& folder, const std::string& name, Answer& answer) {
  if (variants_[0] == nullptr) return;
  const std::string all = folder + kVariantsFolder;
  if (!is_folder(all)) return keep_tried(all);
  for (const char* variant : variants_)
    if (variant != nullptr) add_variant(all + "/" + variant + "/" + name, answer);
}

void LoaderSearch::keep_tried(const std::string& path) {
  if (tried_.size() <= kTriedMost && tried_bytes_ <= kTriedBytesMost && tried_.insert(path).second)
    tried_bytes_ += path.size();
}

std::vector<std::string> LoaderSearch::tried(bool& whole) const {
  whole = tried_.size() <= kTriedMost && tried_bytes_ <= kTriedBytesMost;
  return {tried_.begin(), tried_.end()};
}

void LoaderSearch::note(const std::string& place, Answer& answer) {
  if (noted_ >= kNotedMost ||
      std::find(answer.searched.begin(), answer.searched.end(), place) != answer.searched.end())
    return;
  ++noted_;
  answer.searched.push_back(place);
}

bool LoaderSearch::try_folder(const std::string& folder, const std::string& name, Answer& answer) {
  const std::string in = folder + (ends_with(folder, "/") ? "" : "/");
  add_variants(in, name, answer);
  if (try_file(in + name, answer)) return true;
  note(folder, answer);
  return false;
}

bool LoaderSearch::try_folders(const std::vector<std::string>& folders, const std::string& name,
                               Answer& answer) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return try_folder(folder, name, answer); });
}

// An RPATH or RUNPATH. A linker for another system writes paths of that system, or of this one where it
// stands. One may name thousands of folders: they are spelled out one by one.
bool LoaderSearch::try_run_path(const std::string& list, const LoadedFile& file, const std::string& name,
                                Answer& answer) {
  return any_folder(list, ":", file.origin, [&](const std::string& folder) {
    if (!sysroot_.empty() && folder[0] == '/' && try_folder(sysroot_ + folder, name, answer)) return true;
    return try_folder(folder, name, answer);
  });
}

bool LoaderSearch::try_cache(const std::string& name, bool no_default_folders, Answer& answer) {
  if (!cache_) {
    cache_.emplace();
    keep_tried(cache_path_);
    auto source = FileSource::open(cache_path_);
    if (source && source->size() <= kCacheMost)
      if (auto bytes = read_bytes(*source, 0, source->size())) {
        cache_bytes_ = std::move(*bytes);
        if (auto cache = parse_loader_cache(cache_bytes_)) cache_ = std::move(*cache);
      }
  }
  const auto is_default = [&](const std::string& path) {
    for (const std::string& folder : defaults_)
      if (starts_with(path, folder + "/")) return true;
    return false;
  };
  if (const auto found = cache_->find(name); found != cache_->end())
    for (const std::string_view each : found->second) {
      const std::string path = sysroot_ + std::string(each);
      if (no_default_folders && is_default(path)) continue;
      if (path.find("/" + std::string(kVariantsFolder) + "/") != std::string::npos)
        add_variant(path, answer);
      else if (try_file(path, answer))
        return true;
    }
  note(cache_path_, answer);
  return false;
}

// Cut where it is longer than any path: no file is found by that.
std::string LoaderSearch::expand(std::string_view text, const std::string& origin) const {
  const std::pair<std::string_view, const std::string&> tokens[] = {
      {"$ORIGIN", origin}, {"${ORIGIN}", origin},    {"$LIB", lib_},
      {"${LIB}", lib_},    {"$PLATFORM", platform_}, {"${PLATFORM}", platform_}};
  std::string out;
  while (!text.empty() && out.size() < kSearchPathMost) {
    const auto token = std::find_if(std::begin(tokens), std::end(tokens), [&](const auto& each) {
      return !each.second.empty() && starts_with(text, each.first);
    });
    const bool is_token = token != std::end(tokens);
    const std::size_t taken = is_token ? token->first.size() : std::min(text.find('$', 1), text.size());
    out += is_token ? std::string_view(token->second) : text.substr(0, std::min(taken, kSearchPathMost));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace archguard
