#include "files.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/parallel.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/watched_source.h"
#include "compat/arch.h"
#include "container/host_file.h"
#include "container/packed.h"
#include "container/zip.h"
#include "walk.h"

namespace archguard {
namespace {

constexpr std::size_t kFilesAhead = 64;     // that are open at once
constexpr std::uint64_t kFileStart = 4096;  // of a file, that tells what it is

Result<Bytes> read_file_start(const ByteSource& bytes) {
  return read_bytes(bytes, 0, std::min<std::uint64_t>(kFileStart, bytes.size()));
}

// Is a file of no known format searched for images? They stand in clear in what programs write down for
// themselves: kernels that Numba and CuPy keep, pickles, plans of TensorRT. A text only speaks of images, and
// what is packed hides them. A folder may hold far more data than that: of a large file the name must tell.
bool is_searched(const InputFile& input, const ByteSource& bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 20;
  constexpr std::string_view kNames[] = {".engine", ".plan", ".trt", ".pkl", ".pickle", ".nbc", ".nbi"};
  const auto is_named = [&](std::string_view name) { return ends_with(input.path, name); };
  if (bytes.size() > kMost && !input.named && !is_named_like_image(input.path) &&
      std::none_of(std::begin(kNames), std::end(kNames), is_named))
    return false;
  const auto start = read_file_start(bytes);
  return start && std::find(start->begin(), start->end(), 0) != start->end() && !is_bitcode(*start) &&
         !is_packed(bytes);
}

// A file that was opened, and what it holds where that is known already.
struct Opened {
  std::unique_ptr<WatchedSource> source;
  std::optional<DeviceCode> code;  // nothing for a zip file, whose members are read in their turn
};

Opened open_file(const InputFile& input, Keep keep) {
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
  if (holds_files(*opened.source)) return opened;
  opened.code = read_device_code(*opened.source, input.path, {}, keep);
  if (opened.code->recognized || !is_searched(input, *opened.source)) return opened;
  DeviceCode found = search_device_code(*opened.source, input.path, keep);
  if (found.objects.front().holds_containers() || !found.errors.empty()) opened.code = std::move(found);
  return opened;
}

// A name that promises a library, and a file without a beginning, or one that git-lfs did not fetch: a copy
// or a download that came to nothing. It may have held anything. Or the name of an image: it may be one that
// this reader does not know.
bool is_lost_binary(const std::string& path, const ByteSource& bytes) {
  if (is_named_like_image(path)) return true;
  const bool promises = is_named_like_program(path);
  if (!promises && !is_named_like_object(path)) return false;  // some objects are empty on purpose
  const auto start = read_file_start(bytes);
  if (!start) return false;
  if (is_git_lfs_pointer(*start) || is_git_annex_pointer(*start)) return true;
  const auto magic = start->begin() + std::min<std::ptrdiff_t>(4, static_cast<std::ptrdiff_t>(start->size()));
  return promises &&
         (start->size() < 4 || std::all_of(start->begin(), magic, [](auto byte) { return byte == 0; }));
}

// What is to be said of a file in a folder that is no binary. Bitcode of another name is a library for
// compilers.
std::optional<UnreadKind> unread_kind(const std::string& path, const ByteSource& bytes) {
  const auto start = read_file_start(bytes);
  if (!start) return std::nullopt;
  if (is_git_lfs_pointer(*start) || is_git_annex_pointer(*start)) return UnreadKind::pointer;
  if (is_bitcode(*start) && is_named_like_object(path)) return UnreadKind::bitcode;
  return is_packed(bytes) ? std::optional(UnreadKind::packed) : std::nullopt;
}

}  // namespace

Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths, const std::string& list,
                                          PassedOver& passed_over) {
  if (std::any_of(paths.begin(), paths.end(), [](const std::string& path) { return path.empty(); }))
    return no_name();
  std::vector<InputFile> files = walk(paths, passed_over);
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

void visit_files(const std::vector<InputFile>& files, const VisitCode& visit, const FilesProgress& progress,
                 PassedOver& passed_over, Keep keep) {
  // One file is spread over the cores by itself.
  const unsigned threads = files.size() == 1 ? 0 : threads_to_use();
  std::optional<InOrder<Opened>> opened;
  if (threads > 1)
    opened.emplace(
        files.size(), kFilesAhead, [&](std::size_t i, unsigned) { return open_file(files[i], keep); },
        threads);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const InputFile& input = files[i];
    progress({i});
    const Opened file = opened ? opened->next() : open_file(input, keep);
    const auto one = [&](const DeviceCode& code, const ByteSource& bytes) {
      if (!code.passed_over.empty()) {  // comes last, without objects
        for (const std::string& member : code.passed_over)
          passed_over.push_back({member, UnreadKind::packed});
        if (code.errors.empty()) return;
      }
      if (code.packed_at)
        passed_over.push_back(
            {place_name(object_name(input.path, code.member), "", *code.packed_at), UnreadKind::packed});
      const bool is_other = !code.recognized && !input.named && input.needed_by.empty();
      if (!is_other || (file.code && is_lost_binary(input.path, bytes)))  // a zip file is not
        return visit(input, code, bytes);
      // Of a zip file the errors tell: a package, or with nothing but compressed files in it.
      const auto kind = file.code             ? unread_kind(input.path, bytes)
                        : code.errors.empty() ? std::nullopt
                                              : std::optional(UnreadKind::packed);
      if (kind) passed_over.push_back({input.path, *kind});
    };
    if (!file.source) {
      one(*file.code, MemorySource({}));
      continue;
    }
    if (file.code) one(*file.code, *file.source);
    if (file.code && !has_zip_behind(*file.source)) continue;
    const auto members_read = [&](std::uint64_t done, std::uint64_t members) {
      progress({i, done, members});
    };
    std::optional<InOrder<Opened>::Rest> rest;
    if (opened) rest.emplace(*opened);
    if (file.code)
      visit_code_behind(*file.source, input.path, one, members_read, keep);
    else
      visit_device_code(*file.source, input.path, one, members_read, keep);
  }
  progress({files.size()});
}

}  // namespace archguard
