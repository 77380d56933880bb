#include "files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sys/stat.h>
#include <system_error>

#include "base/parallel.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/watched_source.h"
#include "compat/arch.h"
#include "container/host_file.h"

namespace archguard {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFilesAhead = 64;  // that are open at once

// A folder that holds itself, by a mount, ends where it comes again.
struct Place {
  dev_t device = 0;
  ino_t file = 0;
};

class Walk {
 public:
  explicit Walk(std::vector<InputFile>& files) : files_(files) {}

  void folder(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail(path, std::strerror(errno));
    for (const Place& outer : above_)
      if (outer.device == status.st_dev && outer.file == status.st_ino) return;
    above_.push_back({status.st_dev, status.st_ino});
    std::error_code error;
    auto entry = fs::directory_iterator(path, error);
    while (!error && entry != fs::directory_iterator()) {
      const auto kind = entry->symlink_status(error).type();
      if (kind == fs::file_type::regular) files_.push_back({entry->path().string(), false, std::nullopt});
      if (kind == fs::file_type::directory) folder(entry->path().string());
      if (error) fail(entry->path().string(), error.message());
      entry.increment(error);
    }
    if (error) fail(path, error.message());
    above_.pop_back();
  }

 private:
  void fail(const std::string& path, const std::string& why) {
    files_.push_back({path, false, Error{path, "cannot be walked: " + why, {}}});
  }

  std::vector<InputFile>& files_;
  std::vector<Place> above_;
};

// A file that was opened, and what it holds where that is known already.
struct Opened {
  std::unique_ptr<WatchedSource> source;
  std::optional<DeviceCode> code;  // nothing for a zip file, whose members are read in their turn
};

Opened open_file(const InputFile& input) {
  const auto failed = [](Error error) {
    Opened opened;
    opened.code.emplace();
    opened.code->errors.push_back(std::move(error));
    return opened;
  };
  if (input.error) return failed(*input.error);
  auto source = FileSource::open(input.path);
  if (!source) {
    Error error = std::move(source).error();
    if (parse_capability(input.path)) error.fix = "for a device write --device " + input.path;
    return failed(std::move(error));
  }
  Opened opened;
  opened.source = std::make_unique<WatchedSource>(std::move(*source));
  if (!holds_files(*opened.source)) opened.code = read_device_code(*opened.source, input.path);
  return opened;
}

// A name that promises a library, and a file without a beginning, or one that git-lfs did not fetch: a copy
// or a download that came to nothing. It may have held anything. Or the name of an image: it may be one that
// this reader does not know.
bool is_lost_binary(const std::string& path, const ByteSource& bytes) {
  constexpr std::string_view kImages[] = {".fatbin", ".cubin", ".ptx"};  // nothing else has such a name
  constexpr std::string_view kBinaries[] = {".dll", ".exe", ".pyd", ".whl"};
  constexpr std::string_view kObjects[] = {".a", ".lib", ".o", ".obj"};  // some are empty on purpose
  const auto ends = [&](std::string_view suffix) { return ends_with(path, suffix); };
  if (std::any_of(std::begin(kImages), std::end(kImages), ends)) return true;
  const auto so = path.rfind(".so");
  const bool promises =
      std::any_of(std::begin(kBinaries), std::end(kBinaries), ends) ||
      (so != std::string::npos && path.find_first_not_of("0123456789.", so + 3) == std::string::npos);
  if (!promises && std::none_of(std::begin(kObjects), std::end(kObjects), ends)) return false;
  const auto start = read_bytes(bytes, 0, std::min<std::uint64_t>(64, bytes.size()));
  if (!start) return false;
  if (is_git_lfs_pointer(*start)) return true;
  const auto magic = start->begin() + std::min<std::ptrdiff_t>(4, static_cast<std::ptrdiff_t>(start->size()));
  return promises &&
         (start->size() < 4 || std::all_of(start->begin(), magic, [](auto byte) { return byte == 0; }));
}

// A package, a tar archive, or a file compressed by gzip, xz, zstd, bzip2 or 7z: it may hold binaries.
bool is_packed(const ByteSource& bytes) {
  using namespace std::string_view_literals;
  constexpr std::string_view kBeginnings[] = {"\x1f\x8b"sv,
                                              "\xfd"
                                              "7zXZ"sv,
                                              "\x28\xb5\x2f\xfd"sv,
                                              "BZh"sv,
                                              "7z\xbc\xaf\x27\x1c"sv,
                                              "\xed\xab\xee\xdb"sv,
                                              "!<arch>\ndebian-binary"sv};
  constexpr std::size_t kTarMagicAt = 257;
  const auto start = read_bytes(bytes, 0, std::min<std::uint64_t>(kTarMagicAt + 5, bytes.size()));
  if (!start) return false;
  const std::string_view text = ByteView(*start).text();
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view beginning) { return starts_with(text, beginning); }) ||
         (text.size() > kTarMagicAt && text.substr(kTarMagicAt) == "ustar");
}

}  // namespace

Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths, const std::string& list) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    if (path.empty()) return no_name();
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back({path, true, std::nullopt});
      continue;
    }
    std::vector<InputFile> found;
    Walk(found).folder(path);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.path < b.path; });
    files.insert(files.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  if (list.empty()) return files;
  ARCHGUARD_TRY(text, read_text_file(list));
  for (const std::string_view lines : split(text, '\0'))
    for (const std::string_view line : split(lines, '\n'))
      if (const std::string_view path = trim(line); !path.empty())
        files.push_back({std::string(path), false, std::nullopt});
  return files;
}

std::string no_binary_text(const std::vector<std::string>& paths, const std::string& list) {
  std::vector<std::string> all = paths;
  if (!list.empty()) all.push_back(text_file_name(list));
  return "no binary in " + join(all, ", ");
}

void visit_files(const std::vector<InputFile>& files, const VisitCode& visit,
                 const std::function<void(std::size_t)>& progress, PassedOver& passed_over) {
  // One file is spread over the cores by itself.
  const unsigned threads = files.size() == 1 ? 0 : threads_to_use();
  std::optional<InOrder<Opened>> opened;
  if (threads > 1)
    opened.emplace(
        files.size(), kFilesAhead, [&](std::size_t i, unsigned) { return open_file(files[i]); }, threads);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const InputFile& input = files[i];
    progress(i);
    const Opened file = opened ? opened->next() : open_file(input);
    const auto one = [&](const DeviceCode& code, const ByteSource& bytes) {
      if (!code.passed_over.empty()) {  // comes last, without objects
        passed_over.insert(passed_over.end(), code.passed_over.begin(), code.passed_over.end());
        if (code.errors.empty()) return;
      }
      const bool is_other = !code.recognized && !input.named && input.needed_by.empty();
      if (!is_other || (file.code && is_lost_binary(input.path, bytes)))  // a zip file is not
        return visit(input, code, bytes);
      // Of a zip file the errors tell: a package, or with nothing but compressed files in it.
      if (file.code ? is_packed(bytes) : !code.errors.empty()) passed_over.push_back(input.path);
    };
    if (!file.source) {
      one(*file.code, MemorySource({}));
    } else if (file.code) {
      one(*file.code, *file.source);
      visit_code_behind(*file.source, input.path, one);
    } else {
      visit_device_code(*file.source, input.path, one);
    }
  }
  progress(files.size());
}

}  // namespace archguard
