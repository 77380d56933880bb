#include "promise/package.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "host/archive_stream.h"
#include "host/zip.h"

namespace archguard::promise {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;       // of the metadata
constexpr std::uint64_t kMostUnpacked = std::uint64_t{256} << 20;  // of the archive that it is in

Result<std::string> metadata_text(ByteStream& bytes) {
  Bytes text(kMostBytes + 1);
  std::size_t size = 0;
  while (size < text.size()) {
    ARCHGUARD_TRY(count, bytes.next(text.data() + size, text.size() - size));
    if (count == 0) break;
    size += count;
  }
  if (size > kMostBytes) return Error{{}, "has more than 1 MiB", {}};
  return std::string(ByteView{text.data(), size}.text());
}

// However it is written: "./info//index.json".
bool is_index(const std::string& name) {
  std::string plain;
  for (const std::string_view part : split(name, '/'))
    if (!part.empty() && part != ".") plain += "/" + std::string(part);
  return plain == "/info/index.json" || ends_with(plain, "/../info/index.json");
}

// Nothing where the archive has no such member.
Result<std::optional<std::string>> index_in(const ByteSource& info) {
  std::uint64_t left = kMostUnpacked;
  const Spend spend = [&](std::uint64_t bytes) -> Status {
    if (bytes > left) return Error{{}, "inflates to too much", "unpack it and name its info/index.json"};
    left -= bytes;
    return Done{};
  };
  std::optional<std::string> index;
  std::optional<Error> failure;
  SourceStream stream(info);
  const auto visited =
      visit_archive_stream(stream, spend, [&](const StreamMember& member, ByteStream& bytes) {
        if (!is_index(member.name)) return true;
        if (index || member.kind != StreamMember::Kind::file) {
          failure = Error{{}, "has info/index.json twice, or as a link", {}};
          return false;
        }
        auto text = metadata_text(bytes);
        if (!text) failure = text.error();
        if (text) index = std::move(*text);
        return !failure;
      });
  if (failure) return *failure;
  if (!visited) return visited.error();
  return index;
}

}  // namespace

Result<Metadata> metadata_of_package(const ByteSource& package, const std::string& path) {
  std::optional<Metadata> found;
  std::optional<Error> failure;
  const Status walked = visit_zip(package, [&](const ZipMember& member) {
    const bool is_variant = ends_with(member.name, ".dist-info/variant.json");
    const bool is_info = starts_with(member.name, "info-") && ends_with(member.name, ".tar.zst");
    if (failure || !(is_variant || is_info)) return;
    if (found) {
      failure = Error{{}, "has its metadata twice: " + found->name + ", and " + member.name, {}};
      return;
    }
    auto opened = open_zip_member(package, member, [](ByteView) { return true; });
    if (!opened) {
      failure = opened.error();
    } else if (*opened && is_variant) {
      SourceStream stream(**opened);
      auto text = metadata_text(stream);
      if (text)
        found = Metadata{"variant.json", std::move(*text)};
      else
        failure = text.error();
    } else if (*opened) {
      auto index = index_in(**opened);
      if (!index)
        failure = index.error();
      else if (*index)
        found = Metadata{"info/index.json", std::move(**index)};
    }
  });
  if (failure) return Error{path, failure->what, failure->fix};
  if (!walked) return walked.error();
  if (!found)
    return Error{path,
                 "has no variant.json, as a wheel has, and no info/index.json, as a conda package has: it "
                 "promises nothing",
                 "give the promise itself: --promise '__cuda_arch >=7.5'"};
  return std::move(*found);
}

}  // namespace archguard::promise
