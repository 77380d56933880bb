#include "files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace archguard {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMostText = std::uint64_t{64} << 20;

Status walk(const std::string& folder, std::vector<InputFile>& files) {
  std::error_code error;
  std::vector<InputFile> found;
  auto entry = fs::recursive_directory_iterator(folder, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    const auto status = entry->symlink_status(error);
    if (error) break;
    if (fs::is_regular_file(status)) found.push_back({entry->path().string(), false});
    entry.increment(error);
  }
  if (error) return Error{folder, "cannot be walked: " + error.message(), {}};
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  files.insert(files.end(), found.begin(), found.end());
  return Done{};
}

}  // namespace

Result<std::vector<InputFile>> list_files(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      ARCHGUARD_CHECK(walk(path, files));
    } else {
      files.push_back({path, true});
    }
  }
  return files;
}

void visit_file(const InputFile& input,
                const std::function<void(const DeviceCode&, const ByteSource&)>& visit) {
  const auto source = FileSource::open(input.path);
  if (!source) {
    DeviceCode unreadable;
    unreadable.errors.push_back(source.error());
    visit(unreadable, MemorySource({}));
    return;
  }
  visit_device_code(*source, input.path, [&](const DeviceCode& code, const ByteSource& bytes) {
    if (code.recognized || input.named) visit(code, bytes);
  });
}

Result<std::string> read_text_file(const std::string& path) {
  ARCHGUARD_TRY(source, FileSource::open(path));
  if (source.size() > kMostText) return Error{path, "is larger than 64 MiB", {}};
  std::string text(static_cast<std::size_t>(source.size()), '\0');
  if (auto status = source.read(0, text.data(), text.size()); !status)
    return Error{path, status.error().what, {}};
  return text;
}

}  // namespace archguard
