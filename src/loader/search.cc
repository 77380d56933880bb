#include "loader/search.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kNotedMost = 10'000;  // places kept for messages, over all libraries that are missing
constexpr std::size_t kPathMost = 4096;
constexpr std::uint64_t kCacheMost = std::uint64_t{64} << 20;

// How Debian names a machine's folders, and what the kernel calls it. (AT_PLATFORM; glibc before 2.37 says
// "haswell" for some of Intel's processors instead.)
struct Machine {
  unsigned number;
  bool is64;
  const char* folder;
  const char* platform;
};
constexpr Machine kMachines[] = {
    {62, true, "x86_64-linux-gnu", "x86_64"},    {3, false, "i386-linux-gnu", "i686"},
    {183, true, "aarch64-linux-gnu", "aarch64"}, {21, true, "powerpc64le-linux-gnu", "power8"},
    {40, false, "arm-linux-gnueabihf", "v7l"},   {243, true, "riscv64-linux-gnu", "riscv64"},
};

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

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

LoaderSearch::LoaderSearch(const LoaderFolders& folders, const LoadedFile& first)
    : is64_(first.dynamic.is64),
      machine_(first.dynamic.machine),
      lib_(is64_ ? "lib64" : "lib"),
      defaults_(folders.defaults),
      sysroot_(folders.sysroot),
      cache_path_(folders.sysroot + folders.cache) {
  const Machine* machine = find_machine(machine_, is64_);
  if (machine != nullptr) platform_ = machine->platform;
  const std::string multiarch = machine == nullptr ? "" : std::string("lib/") + machine->folder;
  if (machine != nullptr && is_folder(sysroot_ + "/" + multiarch))
    lib_ = multiarch;  // a loader that Debian built
  if (defaults_.empty()) {
    if (machine != nullptr) defaults_ = {"/" + multiarch, "/usr/" + multiarch};
    if (is64_) defaults_.insert(defaults_.end(), {"/lib64", "/usr/lib64"});
    defaults_.insert(defaults_.end(), {"/lib", "/usr/lib"});
  }
  for (std::string& folder : defaults_) folder.insert(0, sysroot_);
  library_path_ = split_folders(folders.library_path, ":;", first.origin);
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
      if (try_folders(folders_of(file.dynamic.rpath, file), name, answer)) return answer;
    }
  }
  if (try_folders(library_path_, name, answer)) return answer;
  if (try_folders(folders_of(by.dynamic.runpath, by), name, answer)) return answer;
  if (try_cache(name, by.dynamic.no_default_folders, answer)) return answer;
  if (!by.dynamic.no_default_folders) try_folders(defaults_, name, answer);
  return answer;
}

// Is this the file that the loader takes? One of another class or machine is passed over, and so is one that
// cannot be opened; what is no ELF file, or is damaged, is taken, and the loader ends there.
bool LoaderSearch::try_file(const std::string& path, Answer& answer) {
  if (exhausted()) return false;
  ++lookups_;
  auto source = FileSource::open(path);
  if (!source) return false;
  LoadedFile file{path, {}, folder_of(path), {}};
  auto dynamic = read_elf_dynamic(*source);
  if (!dynamic) {
    answer.error = Error{path, dynamic.error().what, {}};
  } else if (*dynamic) {
    if ((*dynamic)->is64 != is64_ || (*dynamic)->machine != machine_) return false;
    file.dynamic = std::move(**dynamic);
  }
  answer.file = std::move(file);
  return true;
}

void LoaderSearch::note(const std::string& place, Answer& answer) {
  if (noted_ >= kNotedMost ||
      std::find(answer.searched.begin(), answer.searched.end(), place) != answer.searched.end())
    return;
  ++noted_;
  answer.searched.push_back(place);
}

bool LoaderSearch::try_folders(const std::vector<std::string>& folders, const std::string& name,
                               Answer& answer) {
  for (const std::string& folder : folders) {
    if (try_file(folder + (ends_with(folder, "/") ? "" : "/") + name, answer)) return true;
    note(folder, answer);
  }
  return false;
}

bool LoaderSearch::try_cache(const std::string& name, bool no_default_folders, Answer& answer) {
  if (!cache_) {
    cache_.emplace();
    auto source = FileSource::open(cache_path_);
    if (source && source->size() <= kCacheMost)
      if (auto bytes = read_bytes(*source, 0, source->size()))
        if (auto cache = parse_loader_cache(*bytes)) cache_ = std::move(*cache);
  }
  const auto is_default = [&](const std::string& path) {
    for (const std::string& folder : defaults_)
      if (starts_with(path, folder + "/")) return true;
    return false;
  };
  if (const auto found = cache_->find(name); found != cache_->end())
    for (const std::string& path : found->second)
      if (!(no_default_folders && is_default(sysroot_ + path)) && try_file(sysroot_ + path, answer))
        return true;
  note(cache_path_, answer);
  return false;
}

std::vector<std::string> LoaderSearch::split_folders(const std::string& list, const char* separators,
                                                     const std::string& origin) const {
  std::vector<std::string> folders;
  if (list.empty()) return folders;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find_first_of(separators, begin), list.size());
    const std::string folder = expand(list.substr(begin, end - begin), origin);
    if (folder.size() < kPathMost) folders.push_back(folder.empty() ? "." : folder);
    begin = end + 1;
  }
  return folders;
}

// An RPATH or RUNPATH. A linker for another system writes paths of that system, or of this one where it
// stands.
std::vector<std::string> LoaderSearch::folders_of(const std::string& path, const LoadedFile& file) const {
  const std::vector<std::string> folders = split_folders(path, ":", file.origin);
  if (sysroot_.empty()) return folders;
  std::vector<std::string> both;
  for (const std::string& folder : folders) {
    if (folder[0] == '/') both.push_back(sysroot_ + folder);
    both.push_back(folder);
  }
  return both;
}

std::string LoaderSearch::expand(const std::string& text, const std::string& origin) const {
  const std::pair<std::string, const std::string&> tokens[] = {
      {"ORIGIN", origin}, {"LIB", lib_}, {"PLATFORM", platform_}};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t taken = 0;
    for (const auto& [token, value] : tokens) {
      for (const std::string& spelled : {"$" + token, "${" + token + "}"}) {
        if (taken != 0 || value.empty() || text.compare(at, spelled.size(), spelled) != 0) continue;
        taken = spelled.size();
        out += value;
      }
    }
    if (taken == 0) out += text[at];
    at += taken == 0 ? 1 : taken;
  }
  return out;
}

}  // namespace archguard
