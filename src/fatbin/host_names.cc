#include "fatbin/host_names.h"

#include <algorithm>

#include "base/mangled_name.h"
#include "base/text.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/host_bytes.h"
#include "fatbin/host_copies.h"
#include "fatbin/host_function_names.h"
#include "fatbin/host_pointers.h"
#include "fatbin/unregistered_launches.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "image/symbol_name.h"
#include "io/window.h"

namespace archguard {
namespace {

constexpr std::size_t kHostNamesBlock = std::size_t{1} << 20;
constexpr std::size_t kHostNameMost = std::size_t{64} * 1024;
constexpr std::size_t kTextsMost = std::size_t{1} << 16;  // that are names, or end in one
constexpr std::uint64_t kOneCall = 128;                   // bytes of code that hand over its arguments

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

  // `address`: of the first byte. False where it cannot be read. Names do not cross from one call to the
  // next.
  bool search(const ByteSource& source, std::uint64_t offset, std::uint64_t size, std::uint64_t address) {
    Window in(source, kHostNamesBlock + kHostNameMost, 0);
    for (std::uint64_t at = 0; at < size; at += kHostNamesBlock) {
      const std::uint64_t before = std::min<std::uint64_t>(at, longest_);
      const std::uint64_t count = std::min<std::uint64_t>(size - at, kHostNamesBlock);
      const auto bytes = in.at(offset + at - before, static_cast<std::size_t>(before + count));
      if (!bytes) return false;
      address_ = address + at - before;
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
  // Where in memory which name begins. Nothing where there are too many.
  std::optional<std::map<std::uint64_t, std::string>> places() const {
    if (places_.size() == kTextsMost) return std::nullopt;
    std::map<std::uint64_t, std::string> names;
    for (const auto& [place, name] : places_)
      names.emplace(place, std::string(backwards_[name].rbegin(), backwards_[name].rend()));
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
        const auto name = static_cast<std::size_t>(first - backwards_.begin());
        found_[name] = true;
        if (places_.size() < kTextsMost) places_.emplace_back(address_ + end - length, name);
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
  std::vector<std::pair<std::uint64_t, std::size_t>> places_;
  std::uint64_t address_ = 0;  // of the text that is searched
  std::size_t longest_ = 0;
};

// Constants, and whatever else the program has in memory: some linkers put constants elsewhere. Lists of what
// host code names are no code that registers it.
bool may_hold_literals(const Section& section) {
  return section.loaded && section.data && !starts_with(section.name, ".debug") &&
         !starts_with(section.name, ".nvHR");
}

// Which copies something points to, and of which the code that registers hands over name and copy in a call.
class Calls {
 public:
  Calls(const std::map<std::uint64_t, std::string>& texts, const fatbin::HostCopies& copies)
      : texts_(texts), code_(copies.registering) {
    for (const auto& [place, name] : texts) places.insert(place);
    for (const fatbin::HostCopy& each : copies.copies) {
      places.insert(each.begin);
      copies_.emplace(each.begin, &each);
    }
  }

  void take(std::uint64_t at, std::uint64_t place) {
    if (const auto copy = copies_.find(place); copy != copies_.end()) {
      used.insert(place);
      (is_in_code(at) ? handed_over : used_elsewhere).insert(place);
      for (const std::string& name : copy->second->names) join(name, at, of_copies_, of_texts_);
    }
    if (const auto text = texts_.find(place); text != texts_.end())
      join(text->second, at, of_texts_, of_copies_);
  }

  std::set<std::uint64_t> places;          // to look for pointers to
  std::set<std::uint64_t> used;            // of copies
  std::set<std::uint64_t> handed_over;     // of these by the code that registers
  std::set<std::uint64_t> used_elsewhere;  // by other code, or data
  std::set<std::string> registered;        // names

 private:
  using Last = std::map<std::string, std::uint64_t>;
  void join(const std::string& name, std::uint64_t at, Last& own, const Last& other) {
    if (!is_in_code(at)) return;
    own[name] = at;
    const auto found = other.find(name);
    if (found != other.end() && at >= found->second && at - found->second <= kOneCall)
      registered.insert(name);
  }

  // Other code may name a variable and use its copy at once: a macro that tells what failed.
  bool is_in_code(std::uint64_t at) const {
    const auto behind = std::upper_bound(code_.begin(), code_.end(), std::pair(at, UINT64_MAX));
    return behind != code_.begin() && at < std::prev(behind)->second;
  }

  const std::map<std::uint64_t, std::string>& texts_;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& code_;
  std::map<std::uint64_t, const fatbin::HostCopy*> copies_;
  Last of_texts_, of_copies_;  // where the last pointer stands
};

// Variables whose copies nothing but the code that registers points to, and which no other file can name.
std::set<std::string> handed_over_alone(const fatbin::HostCopies& copies, const Calls& calls) {
  std::set<std::string> alone;
  for (const fatbin::HostCopy& each : copies.copies)
    if (calls.handed_over.count(each.begin) != 0 && each.file != 0)
      alone.insert(each.names.begin(), each.names.end());
  for (const fatbin::HostCopy& each : copies.copies)
    if (calls.used_elsewhere.count(each.begin) != 0)
      for (const std::string& name : each.names) alone.erase(name);
  for (const std::string& name : copies.used) alone.erase(name);
  return alone;
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
  look_for_kernel(object, name);
  OfObject& of = objects_[&object];
  if (of.wanted.count(name) != 0 && of.variables.insert(name).second) of.searched = false;
}

void HostNames::look_for_kernel(const DeviceObject& object, const std::string& name) {
  OfObject& of = objects_[&object];
  if (name.size() <= kHostNameMost && of.wanted.insert(name).second) of.searched = false;
}

HostNames::OfObject& HostNames::searched(const DeviceObject& object) {
  OfObject& of = objects_[&object];
  if (of.searched) return of;
  of.searched = true;
  const PartSource source = bytes_of(object, file_);
  bool told = false;
  of.whole = false;
  const HostFile read = visit_host_file(
      source, {}, {}, [&](const HostObject& host) { told = search(of, object, source, host); });
  of.told = told && read.errors.empty();
  of.whole = of.whole && read.errors.empty();
  return of;
}

// Whether the file tells which copies are used.
bool HostNames::search(OfObject& of, const DeviceObject& object, const ByteSource& source,
                       const HostObject& host) {
  NameSearch names(of.wanted);
  const bool whole = fatbin::visit_host_bytes(
      source, host, object.fatbins, may_hold_literals,
      [&](const Section& section, std::uint64_t at, std::uint64_t size) {
        return names.search(source, at, size, section.address + (at - section.offset));
      });
  of.texts = of.registered = names.found();
  of.perhaps_used.clear();
  of.surely_used.clear();
  of.left_alone.clear();
  of.whole = whole;
  of.wanted_elsewhere = fatbin::wanted_kernels(source, host, of.wanted);
  if (!whole) return false;
  const auto copies = fatbin::find_host_copies(source, host, object, of.variables);
  if (!copies) return false;
  const auto places = names.places();
  const auto texts = places.value_or(std::map<std::uint64_t, std::string>());
  Calls calls(texts, *copies);
  const bool points =
      fatbin::visit_host_pointers(source, host, object, calls.places,
                                  [&](std::uint64_t at, std::uint64_t place) { calls.take(at, place); });
  if (points && places) {
    of.registered = std::move(calls.registered);
    for (const std::string& name : copies->used)
      if (of.texts.count(name) != 0) of.registered.insert(name);
    of.left_alone = handed_over_alone(*copies, calls);
  }
  of.perhaps_used = copies->used;
  for (const fatbin::HostCopy& each : copies->copies) {
    if (points && calls.used.count(each.begin) == 0) continue;
    of.perhaps_used.insert(each.names.begin(), each.names.end());
    if (points && !each.surely.empty() && calls.handed_over.count(each.begin) == 0)
      of.surely_used.insert(each.surely);
  }
  return true;
}

bool HostNames::has(const DeviceObject& object, const std::string& name) {
  return searched(object).texts.count(name) != 0;
}

bool HostNames::lacks(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return of.whole && of.wanted.count(name) != 0 && of.texts.count(name) == 0;
}

bool HostNames::leaves_none_open(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return of.wanted_elsewhere && of.wanted.count(name) != 0 && of.wanted_elsewhere->count(name) == 0;
}

bool HostNames::registers(const DeviceObject& object, const std::string& name) {
  return searched(object).registered.count(name) != 0;
}

bool HostNames::may_use(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  if (!of.told && of.whole && is_of_clang(object)) return of.texts.count(name) != 0;
  return !of.told || of.wanted.count(name) == 0 || of.perhaps_used.count(name) != 0;
}

// Does clang's code register each of its fat binaries, as a symbol of its own for each object shows?
bool HostNames::is_of_clang(const DeviceObject& object) {
  constexpr const char* kConstructor = "__cuda_module_ctor";
  auto& of_clang = objects_[&object].of_clang;
  if (!of_clang) {
    const auto registering = std::count_if(object.registrations.begin(), object.registrations.end(),
                                           [](const Registration& each) { return !each.device_linked; });
    const auto counts = count_host_functions(object, file_, {kConstructor});
    const auto found = counts.find(kConstructor);
    of_clang =
        registering != 0 && found != counts.end() && found->second == static_cast<std::size_t>(registering);
  }
  return *of_clang;
}

bool HostNames::leaves_alone(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return of.told && of.registered.count(name) != 0 && of.left_alone.count(name) != 0;
}

bool HostNames::uses_unregistered(const DeviceObject& object, const std::string& name) {
  const OfObject& of = searched(object);
  return of.told && of.registered.count(name) == 0 && of.surely_used.count(name) != 0;
}

bool HostNames::has_host_function(const DeviceObject& object, const std::string& kernel) {
  OfObject& of = objects_[&object];
  if (!of.with_function || of.asked_functions != of.wanted.size()) {
    std::map<std::string, std::vector<std::string>> kernels;  // by the names of their functions
    std::set<std::string> names;
    for (const std::string& each : of.wanted)
      for (std::string& name : fatbin::host_function_names(each)) {
        names.insert(name);
        kernels[std::move(name)].push_back(each);
      }
    of.with_function.emplace();
    of.asked_functions = of.wanted.size();
    for (const auto& [name, count] : count_host_functions(object, file_, names))
      of.with_function->insert(kernels[name].begin(), kernels[name].end());
  }
  return of.with_function->count(kernel) != 0;
}

bool HostNames::may_launch_unregistered(const DeviceObject& object, const std::string& kernel) {
  if (is_of_clang(object)) return false;
  if (!knows_registering_code(object)) return true;
  if (launches_itself(object, kernel)) return false;
  if (has_host_function(object, kernel)) return true;
  auto& may_launch = objects_[&object].may_launch;
  if (!may_launch) {
    may_launch = true;
    const PartSource source = bytes_of(object, file_);
    const HostFile read = visit_host_file(source, {}, {}, [&](const HostObject& host) {
      may_launch = fatbin::may_launch_unregistered(source, host, object.fatbins);
    });
    if (!read.errors.empty()) may_launch = true;
  }
  return *may_launch;
}

// Compilers write types that depend on parameters in several ways, and with them substitutions: names are
// compared as texts. Those leave out the mark of a file, which may hold another kernel of the same text.
bool HostNames::launches_itself(const DeviceObject& object, const std::string& kernel) {
  if (kernel.find("_GLOBAL__") != std::string::npos || kernel.find("_INTERNAL_") != std::string::npos ||
      without_file_mark(kernel) != kernel)
    return false;
  OfObject& of = objects_[&object];
  if (!of.launching || of.asked_launches != of.wanted.size()) {
    std::set<std::string> beginnings;
    for (const std::string& each : of.wanted)
      for (const std::string& name : fatbin::host_function_names(each))
        if (const auto last = last_plain_name(name);
            last && last->end < name.size() && name[last->end] == 'I')
          beginnings.insert(name.substr(0, last->end + 1));
    of.asked_launches = of.wanted.size();
    of.launching.emplace();
    const PartSource source = bytes_of(object, file_);
    const HostFile read = visit_host_file(source, {}, {}, [&](const HostObject& host) {
      std::set<std::string> others;
      for (const auto& [name, itself] :
           fatbin::launching_themselves(source, host, object.fatbins, beginnings))
        (itself ? *of.launching : others).insert(demangle(name));
      for (const std::string& other : others) of.launching->erase(other);
    });
    if (!read.errors.empty()) of.launching->clear();
  }
  return !of.launching->empty() && of.launching->count(demangle(kernel)) != 0;
}

std::map<std::string, std::size_t> count_host_functions(const DeviceObject& object, const ByteSource& file,
                                                        const std::set<std::string>& names) {
  std::map<std::string, std::size_t> counts;
  if (names.empty()) return counts;
  const PartSource source = bytes_of(object, file);
  visit_host_file(source, {}, {}, [&](const HostObject& host) {
    if (auto found = fatbin::functions_among(source, host, names)) counts = std::move(*found);
  });
  return counts;
}

}  // namespace archguard
