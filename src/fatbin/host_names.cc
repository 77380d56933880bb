#include "fatbin/host_names.h"

#include <algorithm>

#include "base/text.h"
#include "fatbin/host_bytes.h"
#include "host/host_file.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::size_t kHostNamesBlock = std::size_t{1} << 20;
constexpr std::size_t kHostNameMost = std::size_t{64} * 1024;

// Looks for many names at once: from each NUL backwards through a sorted list of the names, read backwards,
// of which the text that was read so far leaves a part. The NUL before ends it, so that no byte is looked at
// twice, however many names there are.
class NameSearch {
 public:
  explicit NameSearch(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      backwards_.emplace_back(name.rbegin(), name.rend());
      longest_ = std::max(longest_, name.size());
    }
    std::sort(backwards_.begin(), backwards_.end());
    found_.resize(backwards_.size());
  }

  // False where it cannot be read. Names do not cross from one call to the next.
  bool search(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
    Window in(source, kHostNamesBlock + kHostNameMost, 0);
    for (std::uint64_t at = 0; at < size; at += kHostNamesBlock) {
      const std::uint64_t before = std::min<std::uint64_t>(at, longest_);
      const std::uint64_t count = std::min<std::uint64_t>(size - at, kHostNamesBlock);
      const auto bytes = in.at(offset + at - before, static_cast<std::size_t>(before + count));
      if (!bytes) return false;
      search(bytes->text(), static_cast<std::size_t>(before));
    }
    return true;
  }

  std::set<std::string> found() const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (found_[i]) names.emplace(backwards_[i].rbegin(), backwards_[i].rend());
    return names;
  }

 private:
  // Of the NULs from `first` on.
  void search(std::string_view text, std::size_t first) {
    for (std::size_t end = text.find('\0', first); end != std::string_view::npos;
         end = text.find('\0', end + 1)) {
      note_names_before(text, end);
      while (end + 1 < text.size() && text[end + 1] == '\0') ++end;
    }
  }

  void note_names_before(std::string_view text, std::size_t end) {
    auto first = backwards_.begin(), last = backwards_.end();
    for (std::size_t length = 0; first != last; ++length) {
      if (first->size() == length) {
        found_[static_cast<std::size_t>(first - backwards_.begin())] = true;
        if (++first == last) return;
      }
      if (length == end || text[end - length - 1] == '\0') return;
      const auto next = static_cast<unsigned char>(text[end - length - 1]);
      const auto letter = [&](const std::string& name) { return static_cast<unsigned char>(name[length]); };
      first = std::lower_bound(first, last, next,
                               [&](const std::string& name, unsigned char c) { return letter(name) < c; });
      last = std::upper_bound(first, last, next,
                              [&](unsigned char c, const std::string& name) { return c < letter(name); });
    }
  }

  std::vector<std::string> backwards_;
  std::vector<bool> found_;
  std::size_t longest_ = 0;
};

// Constants, and whatever else the program has in memory: some linkers put constants elsewhere. Lists of what
// host code names are no code that registers it.
bool may_hold_literals(const Section& section) {
  return section.loaded && section.data && !starts_with(section.name, ".debug") &&
         !starts_with(section.name, ".nvHR");
}

}  // namespace

bool HostNames::tells_of(const DeviceObject& object, const Fatbin& fatbin) {
  auto& places = objects_[&object].places;
  if (!places) {
    places.emplace();
    for (const Registration& each : object.registrations)
      if (each.fatbin && !each.device_linked && each.module_id.empty())
        places->push_back(object.fatbins[*each.fatbin].offset);
    std::sort(places->begin(), places->end());
  }
  return !fatbin.relocatable && !fatbin.bare && !fatbin.offload &&
         std::binary_search(places->begin(), places->end(), fatbin.offset);
}

void HostNames::look_for(const DeviceObject& object, const std::string& name) {
  OfObject& of = objects_[&object];
  if (name.size() <= kHostNameMost && of.wanted.insert(name).second) of.searched = false;
}

HostNames::OfObject& HostNames::searched(const DeviceObject& object) {
  OfObject& of = objects_[&object];
  if (of.searched) return of;
  of.searched = true;
  NameSearch names(of.wanted);
  bool whole = false;
  std::optional<fatbin::UsedCopies> used;
  const PartSource source = bytes_of(object, file_);
  const HostFile read = visit_host_file(source, {}, {}, [&](const HostObject& host) {
    whole = fatbin::visit_host_bytes(
        source, host, object.fatbins, may_hold_literals,
        [&](const Section&, std::uint64_t at, std::uint64_t size) { return names.search(source, at, size); });
    std::set<std::string> unregistered = of.wanted;
    of.registered = names.found();
    for (const std::string& name : of.registered) unregistered.erase(name);
    if (whole) used = fatbin::used_host_copies(source, host, object, unregistered);
  });
  of.told = whole && used && read.errors.empty();
  if (used) of.used = std::move(*used);
  return of;
}

bool HostNames::registers(const DeviceObject& object, const std::string& name) {
  return searched(object).registered.count(name) != 0;
}

bool HostNames::may_use(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return !of.told || of.wanted.count(name) == 0 || of.registered.count(name) != 0 ||
         of.used.perhaps.count(name) != 0;
}

bool HostNames::uses_unregistered(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return of.told && of.registered.count(name) == 0 && of.used.surely.count(name) != 0;
}

}  // namespace archguard
