#include "files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "base/parallel.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/watched_source.h"
#include "compat/arch.h"
#include "fatbin/other_file.h"
#include "host/packed.h"
#include "host/zip.h"
#include "walk.h"

namespace archguard {
namespace {

constexpr std::size_t kFilesAhead = 64;     // that are open at once
constexpr std::uint64_t kFileStart = 4096;  // of a file, that tells what it is

Result<Bytes> read_file_start(const ByteSource& bytes) {
  return read_bytes(bytes, 0, std::min<std::uint64_t>(kFileStart, bytes.size()));
}

// What somebody names who means the program that it becomes.
std::optional<Error> refuse_source(const std::string& path) {
  for (const char* ending : {".cu", ".cuh"})
    if (ends_with(path, ending))
      return Error{path, "is CUDA source, not a binary",
                   "build it, and name the program or library that it becomes"};
  return std::nullopt;
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
    if (parse_capability(input.path))
      error.fix = "for a device write --device " + input.path;
    else if (input.named && is_missing(error))
      error.fix = fix_of_missing(input.path);
    return failed(std::move(error));
  }
  Opened opened;
  opened.source = std::make_unique<WatchedSource>(std::move(*source));
  // In a folder archives are passed over, but for zip files: what is packed is read on one core alone.
  if (is_zip(*opened.source)) return opened;
  if (input.named && (holds_files(*opened.source) || is_saved_image(input.path) ||
                      is_tar_of_nothing(input.path, *opened.source)))
    return opened;
  opened.code = read_device_code(*opened.source, input.path, {}, keep);
  if (opened.code->recognized) return opened;
  if (const auto source_code = input.named ? refuse_source(input.path) : std::nullopt)
    return failed(*source_code);
  const auto start = read_file_start(*opened.source);
  if (!start || !is_searched(input.path, *start, opened.source->size(), input.named) ||
      is_packed(*opened.source))
    return opened;
  DeviceCode found = search_device_code(*opened.source, input.path, {}, keep);
  if (found.objects.front().holds_fatbins() || !found.errors.empty()) opened.code = std::move(found);
  return opened;
}

// Each path once, where it comes first.
void drop_repeated(std::vector<InputFile>& files) {
  std::unordered_map<std::string, std::size_t> kept;
  std::vector<InputFile> once;
  for (InputFile& file : files) {
    const auto [known, is_new] = kept.try_emplace(file.path, once.size());
    if (is_new)
      once.push_back(std::move(file));
    else
      once[known->second].named |= file.named;
  }
  files = std::move(once);
}

// Has the folder nothing but folders in it? What cannot be walked is an error already.
bool has_no_file(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unknown;
    if (at->symlink_status(unknown).type() != fs::file_type::directory) return false;
  }
  return !error;
}

}  // namespace

Result<std::string> read_file_of_option(const std::string& option, const std::string& path) {
  auto text = read_text_file(path);
  if (text) return text;
  Error error = std::move(text).error();
  if (path != "-") error.where = option + " " + error.where;
  return error;
}

Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths, const std::string& list,
                                          PassedOver& passed_over) {
  if (std::any_of(paths.begin(), paths.end(), [](const std::string& path) { return path.empty(); }))
    return no_name();
  std::vector<InputFile> files = walk(paths, passed_over);
  if (list.empty()) {
    if (paths.size() > 1) drop_repeated(files);
    return files;
  }
  const std::size_t of_paths = files.size();
  std::error_code error;
  if (std::filesystem::is_directory(list, error))
    return Error{"--files-from " + printable(list), "is a folder, not a list of files",
                 "verify the folder itself: archguard verify " + quoted_for_shell(list)};
  ARCHGUARD_TRY(whole, read_file_of_option("--files-from", list));
  const std::string_view text = without_byte_order_mark(whole);
  if (is_utf16(text))
    return Error{"--files-from " + text_file_name(list), "the file is UTF-16 text, expected UTF-8",
                 kSaveAsUtf8};
  if (!text.empty() && text.find_first_not_of('\0') == std::string_view::npos)
    return Error{"--files-from " + text_file_name(list),
                 "the file holds NUL bytes alone, and no name: it was never written",
                 "write the list anew, or copy it whole"};
  const bool ends_with_nul = text.find('\0') != std::string_view::npos;  // then a name may hold anything else
  for (const std::string_view each : split(text, ends_with_nul ? '\0' : '\n'))
    if (const std::string_view path = ends_with_nul ? each : trim(each); !path.empty())
      files.push_back({std::string(path), false, std::nullopt});
  if (of_paths != 0 && files.size() == of_paths)
    passed_over.push_back({text_file_name(list), UnreadKind::no_file});
  drop_repeated(files);
  return files;
}

void pass_over_empty(const std::vector<std::string>& paths, const std::vector<InputFile>& files,
                     PassedOver& passed_over) {
  std::unordered_set<std::string_view> filled;
  for (const InputFile& file : files) filled.insert(file.found_under);
  std::error_code error;
  for (const std::string& path : paths)
    if (filled.count(path) == 0 && std::filesystem::is_directory(path, error) && has_no_file(path))
      passed_over.push_back({path, UnreadKind::no_file});
}

std::vector<std::string> paths_and_list(std::vector<std::string> paths, const std::string& list) {
  if (!list.empty()) paths.push_back(text_file_name(list));
  return paths;
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
    progress({i, 0, 0, input.path});
    const Opened file = opened ? opened->next() : open_file(input, keep);
    const auto one = [&](const DeviceCode& code, const ByteSource& bytes) {
      if (!code.passed_over.empty()) {  // comes last, without objects
        passed_over.insert(passed_over.end(), code.passed_over.begin(), code.passed_over.end());
        if (code.errors.empty()) return;
      }
      if (code.packed_at)
        passed_over.push_back(
            {place_name(object_name(input.path, code.member), "", *code.packed_at), UnreadKind::packed});
      const bool is_other = !code.recognized && !input.named && input.needed_by.empty();
      if (!is_other) return visit(input, code, bytes);
      std::optional<UnreadKind> kind;
      if (!file.code) {  // a zip file: a package, or with nothing but compressed files in it
        if (!code.errors.empty()) kind = UnreadKind::packed;
      } else if (const auto start = read_file_start(bytes)) {
        if (is_lost_binary(input.path, *start)) return visit(input, code, bytes);
        if (is_tar_of_nothing(input.path, bytes)) return;
        kind = unread_kind(input.path, *start);
        if (!kind && is_packed(bytes)) kind = UnreadKind::packed;
      }
      if (kind) passed_over.push_back({input.path, *kind});
    };
    if (!file.source) {
      one(*file.code, MemorySource({}));
      continue;
    }
    if (file.code) one(*file.code, *file.source);
    if (file.code && !has_zip_behind(*file.source)) continue;
    const auto members_read = [&](std::uint64_t done, std::uint64_t members) {
      progress({i, done, members, input.path});
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
