#include "fatbin/zeroed_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "fatbin/host_bytes.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::uint64_t kStorageBlock = 512;  // what a file system or a download loses at least
constexpr std::uint64_t kFilled = 64;         // up to so many bytes fill up between texts
constexpr std::uint64_t kZerosLeast = 64;     // of a section that ends within a block
constexpr std::size_t kZerosMost = 1024;      // places; with more of them zeros are nothing special
constexpr std::size_t kConstantsBlock = std::size_t{1} << 20;
constexpr std::size_t kTextMost = std::size_t{16} * 1024;
constexpr std::size_t kRestMost = 8;  // of a name: fewer bytes do not tell whose they are

bool holds_constants(const Section& section) {
  return section.loaded && section.data && !section.executable &&
         (starts_with(section.name, ".rodata") || starts_with(section.name, ".lrodata") ||
          starts_with(section.name, ".rdata"));
}

// GCC and clang: .rodata.str1.8, .rodata.main.str1.1
bool holds_literals(const Section& section) {
  return section.name.find(".str1.") != std::string::npos;
}

// Does the text end in the beginning of one of these names, which ascend? Enough of it that it is none by
// chance. Other data may stand before it, and no NUL between.
bool ends_in_beginning(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t kEnough = 8, kMangled = 3;
  const auto begins_one = [&](std::string_view rest) {
    const auto found = std::lower_bound(names.begin(), names.end(), rest);
    return found != names.end() && found->size() > rest.size() && starts_with(*found, rest);
  };
  if (text.size() >= kMangled && starts_with(text, "_Z") && begins_one(text)) return true;
  for (std::size_t at = 0; at + kEnough <= text.size(); ++at)
    if (begins_one(text.substr(at))) return true;
  return false;
}

bool ends_name(const std::string& text, const std::string& name) {
  return text.size() < name.size() && text.size() >= kRestMost && ends_with(name, text);
}

}  // namespace

class ZeroedNames::Search {
 public:
  // `offset`: of the source within the file, whose blocks count.
  Search(const ByteSource& source, std::uint64_t offset, std::vector<Zeros>& zeros)
      : source_(source), offset_(offset), zeros_(zeros) {}

  // False where the bytes cannot be read, or zeros are too many.
  bool search(const Section& section, std::uint64_t begin, std::uint64_t size, bool linked) {
    const std::uint64_t end = begin + size;
    std::optional<std::uint64_t> first;  // of a run of blocks
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t count =
          std::min<std::uint64_t>(kConstantsBlock - (offset_ + at) % kConstantsBlock, end - at);
      const auto bytes = read_bytes(source_, at, count);
      if (!bytes) return false;
      for (std::uint64_t i = 0, next = 0; i < count; i = next) {
        next = std::min(count, i + kStorageBlock - (offset_ + at + i) % kStorageBlock);
        const bool lost =
            next - i >= kZerosLeast && are_zeros({bytes->data() + i, static_cast<std::size_t>(next - i)});
        if (lost && !first) first = at + i;
        if (!lost && first && !add(section, begin, end, *first, at + i, linked)) return false;
        if (!lost) first.reset();
      }
      at += count;
    }
    return !first || add(section, begin, end, *first, end, linked);
  }

 private:
  // Zeros from `from` to `to`, and perhaps on both sides of it.
  bool add(const Section& section, std::uint64_t begin, std::uint64_t end, std::uint64_t from,
           std::uint64_t to, bool linked) {
    if (zeros_.size() == kZerosMost) return false;
    const std::uint64_t before = std::min<std::uint64_t>(from - begin, kTextMost);
    const std::uint64_t behind = std::min<std::uint64_t>(end - to, kTextMost);
    const auto left = read_bytes(source_, from - before, before), right = read_bytes(source_, to, behind);
    if (!left || !right) return false;
    std::string_view head = ByteView(*left).text(), tail = ByteView(*right).text();
    while (!head.empty() && head.back() == '\0') head.remove_suffix(1);
    const auto text = tail.find_first_not_of('\0');
    tail.remove_prefix(std::min(text, tail.size()));
    from -= before - head.size();
    to += behind - tail.size();
    const auto nul = head.rfind('\0');
    if (nul != std::string_view::npos)
      head.remove_prefix(nul + 1);
    else if (before == kTextMost)
      head = {};
    const std::string_view after = take_text(tail), next = take_text(tail);
    const bool blocks = (from == begin || begins_block(from)) && (to == end || ends_block(to));
    zeros_.push_back({from, to - from, section.name, section.offset, std::string(head), std::string(after),
                      std::string(next), !linked && holds_literals(section), blocks});
    return true;
  }

  // Does a block begin behind what fills up after a text, or end before that?
  bool begins_block(std::uint64_t at) const {
    return (kStorageBlock - (offset_ + at) % kStorageBlock) % kStorageBlock <= kFilled;
  }
  bool ends_block(std::uint64_t at) const { return (offset_ + at) % kStorageBlock <= kFilled; }

  // With what fills up to the next one.
  static std::string_view take_text(std::string_view& from) {
    const auto stop = from.find('\0');
    const std::string_view text = stop == std::string_view::npos ? std::string_view() : from.substr(0, stop);
    from.remove_prefix(std::min(from.size(), from.find_first_not_of('\0', text.size())));
    return text;
  }

  const ByteSource& source_;
  const std::uint64_t offset_;
  std::vector<Zeros>& zeros_;
};

ZeroedNames::OfObject& ZeroedNames::of(const DeviceObject& object) {
  const auto [found, is_new] = objects_.try_emplace(&object);
  OfObject& of = found->second;
  if (!is_new) return of;
  for (const Registration& each : object.registrations)
    if (each.fatbin) of.registered.insert(*each.fatbin);
  if (of.registered.empty()) return of;
  const PartSource source = bytes_of(object, file_);
  const HostFile read = visit_host_file(source, {}, {}, [&](const HostObject& host) {
    Search in(source, object.elsewhere ? 0 : object.file_offset, of.zeros);
    const bool whole =
        fatbin::visit_host_bytes(source, host, object.fatbins, holds_constants,
                                 [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                                   return in.search(section, at, size, host.linked);
                                 });
    if (!whole) of.zeros.clear();
  });
  if (!read.errors.empty()) of.zeros.clear();  // which are told of already
  return of;
}

void ZeroedNames::note(const DeviceObject& object, std::size_t fatbin, const std::string& kernel,
                       bool everywhere) {
  OfObject& of = this->of(object);
  if (of.zeros.empty() || of.registered.count(fatbin) == 0) return;
  if (of.kernels.insert(kernel).second) host_names_.look_for_kernel(object, kernel);
  if (everywhere) of.expected.insert(kernel);
  if (!host_names_.tells_of(object, object.fatbins[fatbin])) of.linked.insert(kernel);
}

void ZeroedNames::note_variable(const DeviceObject& object, const std::string& variable) {
  OfObject& of = this->of(object);
  if (!of.zeros.empty()) of.variables.insert(variable);
}

std::optional<Error> ZeroedNames::find(const DeviceObject& object) {
  const auto found = objects_.find(&object);
  if (found == objects_.end() || found->second.expected.empty()) return std::nullopt;
  const OfObject of = std::exchange(found->second, {});  // which is asked once
  std::vector<std::string> missing;
  for (const std::string& kernel : of.expected)
    if (host_names_.lacks(object, kernel) &&
        (of.linked.count(kernel) == 0 || host_names_.has_host_function(object, kernel)))
      missing.push_back(kernel);
  if (missing.empty()) return std::nullopt;
  const bool all = std::all_of(of.kernels.begin(), of.kernels.end(),
                               [&](const std::string& kernel) { return host_names_.lacks(object, kernel); });
  const auto is_name = [&](const std::string& text) {
    return of.kernels.count(text) + of.variables.count(text) != 0;
  };
  const auto is_some = [&](const auto& is_it) { return std::any_of(missing.begin(), missing.end(), is_it); };
  // Libraries that look kernels up in other ways have more absent names than that, and tables of zeros.
  std::uint64_t room = 0, needed = 0;
  for (const Zeros& zeros : of.zeros)
    if (zeros.blocks) room += zeros.size;
  for (const std::string& name : missing) needed += name.size() + 1;
  const auto is_beside_name = [&](const Zeros& zeros) {
    return is_name(zeros.before) || is_name(zeros.after) ||
           (zeros.after.size() < kRestMost && is_name(zeros.next));
  };
  const auto lost = std::find_if(of.zeros.begin(), of.zeros.end(), [&](const Zeros& zeros) {
    if (zeros.literals || !zeros.blocks) return zeros.literals;
    return (needed <= room && (all || is_beside_name(zeros))) ||
           (!is_name(zeros.before) && ends_in_beginning(zeros.before, missing)) ||
           (!is_name(zeros.after) && is_some([&](const auto& name) { return ends_name(zeros.after, name); }));
  });
  if (lost == of.zeros.end()) return std::nullopt;
  return Error{
      place_name(object_name(object.path, object.member), lost->section, lost->offset - lost->section_offset),
      "zeros overwrote names by which host code registers kernels, and the runtime does not find "
      "these: " +
          demangle(missing.front()) +
          (missing.size() == 1 ? "" : " and up to " + std::to_string(missing.size() - 1) + " more"),
      "build it again, or copy it whole"};
}

}  // namespace archguard
