#include "fatbin/registrations.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "fatbin/addresses.h"
#include "fatbin/dynamic_symbols.h"
#include "fatbin/format.h"
#include "fatbin/host_bytes.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

// What host code registers with.
constexpr std::string_view kRegisterFunction = "__cudaRegisterFatBinary";
// The ids of an object take some 50 bytes, and a large library has hundreds.
constexpr std::uint64_t kIdsSizeMost = std::uint64_t{16} << 20;
constexpr std::size_t kIdsMost = std::size_t{1} << 18;
constexpr std::string_view kDefines = "def ";
constexpr std::string_view kWholeProgram = "__NV_MODULE_ID";  // the id of an object made without -rdc=true

// The strings of the section of ids. An object's own id stands there once for each of its registrations; a
// device link has "def <id>" for each of its objects, one behind the other with a single NUL between.
struct Ids {
  std::vector<std::string> own;                             // in order
  std::map<std::size_t, std::vector<DeviceLinkIds>> links;  // that stand behind so many of `own`
  bool usable = true;
};

void add_ids(ByteView bytes, Ids& ids, std::size_t& count) {
  bool in_link = false;
  for (std::size_t at = 0; at < bytes.size;) {
    if (bytes.data[at] == 0) {  // a NUL more than one ends a link
      in_link = false;
      ++at;
      continue;
    }
    const std::string_view text = Cursor(bytes).c_string(at);
    if (text.empty()) {  // the last is not terminated
      ids.usable = false;
      return;
    }
    at += text.size() + 1;
    if (++count > kIdsMost) {
      ids.usable = false;
      return;
    }
    if (starts_with(text, kDefines)) {
      auto& links = ids.links[ids.own.size()];
      if (!in_link) links.emplace_back();
      links.back().ids.emplace_back(text.substr(kDefines.size()));
      in_link = true;
    } else {
      ids.own.emplace_back(text);
      in_link = false;
    }
  }
}

Ids read_ids(const ByteSource& source, const HostObject& host) {
  Ids ids;
  std::size_t count = 0;
  std::uint64_t size = 0;
  for (const Section& section : host.sections) {
    if ((section.name != kModuleIdSection && section.name != kCutModuleIdSection) || !section.has_bytes)
      continue;
    size += std::min(section.size, kIdsSizeMost + 1);
    const auto bytes =
        size > kIdsSizeMost ? Result<Bytes>(Error{}) : read_bytes(source, section.offset, section.size);
    if (bytes) add_ids(*bytes, ids, count);
    ids.usable = ids.usable && bytes.ok();
  }
  return ids;
}

bool has_registration_section(const HostObject& host) {
  return std::any_of(host.sections.begin(), host.sections.end(), [](const Section& section) {
    return is_registration_section(section.name) && section.has_bytes;
  });
}

// A linker's script or objcopy may have put the registrations of a linked file elsewhere.
bool may_register_elsewhere(const HostObject& host, const DeviceObject& out) {
  return host.linked && host.format == HostFormat::elf && !out.fatbins.empty() &&
         std::any_of(host.sections.begin(), host.sections.end(), [](const Section& section) {
           return section.has_bytes &&
                  (is_linked_section(section.name) || is_relocatable_section(section.name));
         });
}

class RegistrationReader {
 public:
  RegistrationReader(const ByteSource& source, const HostObject& host, DeviceObject& out)
      : source_(source), host_(host), out_(out), addresses_(source, host) {
    for (const Fatbin& fatbin : out.fatbins) claimed_.push_back(fatbin.bare || fatbin.offload);
  }

  RegistrationProblems read() {
    if (has_registration_section(host_))
      visit_sections([](const Section& section) { return is_registration_section(section.name); },
                     [&](const Section& section) { read_section(section); });
    else
      find_elsewhere();
    if (!out_.registrations.empty()) join_ids();
    problems_.unclaimed = static_cast<std::uint64_t>(std::count(claimed_.begin(), claimed_.end(), false));
    // Zeros where one would have its place, and a fat binary that none of the others registers.
    if (gap_ && !problems_.damaged && problems_.unclaimed > problems_.unresolved) problems_.damaged = gap_;
    return std::move(problems_);
  }

 private:
  template <class Wanted, class Visit>
  void visit_sections(const Wanted& is_wanted, const Visit& visit) {
    std::uint64_t size = 0;
    for (const Section& section : host_.sections) {
      if (!section.has_bytes || !is_wanted(section)) continue;
      problems_.overlap = section.size > source_.size() - size;
      if (problems_.overlap) return;  // sections that share bytes would let a small file cost without end
      size += section.size;
      visit(section);
    }
  }

  // In any data: what looks like a registration, and leads to a fat binary.
  void find_elsewhere() {
    const auto is_wanted = [](const Section& section) {
      return section.loaded && section.data && !is_linked_section(section.name) &&
             !is_relocatable_section(section.name);
    };
    const bool whole =
        visit_host_bytes(source_, host_, out_.fatbins, is_wanted,
                         [&](const Section& section, std::uint64_t at, std::uint64_t size) {
                           return size < kRegistrationSize || find_in(section, at - section.offset, size);
                         });
    problems_.overlap = !whole && !problems_.unread;
    // Does the file ask a CUDA runtime of another file to register fat binaries?
    if (!out_.registrations.empty() || !wants_symbol(source_, host_, kRegisterFunction)) return;
    const auto named = std::find_if(host_.sections.begin(), host_.sections.end(), [](const Section& section) {
      return section.has_bytes && is_linked_section(section.name);
    });
    if (named != host_.sections.end()) problems_.damaged = named->offset;
  }

  // From `first` on within the section. False where it cannot be read.
  bool find_in(const Section& section, std::uint64_t first, std::uint64_t size) {
    constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
    constexpr std::string_view kMagicBytes("\xb1\x43\x62\x46", 4);  // kRegistrationMagic
    Window in(source_, kBlock + kRegistrationSize, 0);
    for (std::uint64_t begin = first, end = first + size; begin < end; begin += kBlock) {
      const auto count = std::min<std::uint64_t>(end - begin, kBlock + kRegistrationSize);
      const auto bytes = in.at(section.offset + begin, static_cast<std::size_t>(count));
      if (!bytes) problems_.unread = bytes.error();
      if (!bytes) return false;
      const std::string_view text = bytes->text();
      for (auto i = text.find(kMagicBytes); i < kBlock && i + kRegistrationSize <= text.size();
           i = text.find(kMagicBytes, i + 1)) {
        if (out_.registrations.size() == kEntriesMost) return true;
        if ((section.address + begin + i) % kRegistrationAlignment == 0)
          add_found(section, begin + i, {bytes->data + i, kRegistrationSize});
      }
    }
    return true;
  }

  void add_found(const Section& section, std::uint64_t at, ByteView bytes) {
    const Cursor wrapper(bytes);
    const std::uint64_t address = wrapper.u64(kRegistrationAddressAt);
    const Pointer target = addresses_.pointer_at(section, at + kRegistrationAddressAt, address);
    if (target.to != Pointer::To::place || !fatbin_at(target.offset)) return;
    Registration registration;
    registration.device_linked = wrapper.u32(kRegistrationVersionAt) == kRegistrationLinked;
    resolve(section, at + kRegistrationAddressAt, address, registration);
    out_.registrations.push_back(std::move(registration));
  }

  void read_section(const Section& section) {
    Window in(source_, kRegistrationSize * 1024, kRegistrationSize * 1024);
    const auto is_one_at = [&](std::uint64_t at) {
      const auto bytes = in.at(section.offset + at, sizeof(std::uint32_t));
      return bytes && Cursor(*bytes).u32(0) == kRegistrationMagic;
    };
    std::uint64_t first = 0;
    while (host_.format != HostFormat::elf && first + kRegistrationAlignment < section.size &&
           !is_one_at(first))
      first += kRegistrationAlignment;
    const bool wide =
        section.size > first + kSmallRegistrationSize && !is_one_at(first + kSmallRegistrationSize);
    const std::uint64_t step = wide ? kRegistrationSize : kSmallRegistrationSize;
    const std::uint64_t end = std::min<std::uint64_t>(section.size, step * kEntriesMost);
    std::uint64_t zeros = 0;  // before this place
    bool any = false;
    for (std::uint64_t at = 0; at < end;) {
      const std::uint64_t left = std::min(step, end - at);
      const auto bytes = in.at(section.offset + at, left);
      if (!bytes) return;  // the file shrank: whoever reads images says so
      const Cursor wrapper(*bytes);
      if (left < step || wrapper.u32(0) != kRegistrationMagic) {
        const std::uint64_t padding = padding_in(*bytes);
        if (padding == 0 && !problems_.damaged) problems_.damaged = section.offset + at;
        zeros += padding;
        at += padding == 0 ? step : padding;
        continue;
      }
      if (zeros >= step && !gap_) gap_ = section.offset + at - zeros;
      zeros = 0;
      any = true;
      if (out_.registrations.size() == kEntriesMost) return;
      Registration registration;
      registration.device_linked = wrapper.u32(kRegistrationVersionAt) == kRegistrationLinked;
      if (wide)
        resolve(section, at + kRegistrationAddressAt, wrapper.u64(kRegistrationAddressAt), registration);
      else
        ++problems_.unresolved;
      out_.registrations.push_back(std::move(registration));
      at += step;
    }
    check_end(section, end - zeros, step, any);
  }

  // A linker makes the section for registrations alone: in an image it does not hold zeros throughout, nor,
  // where a fat binary lacks its registration, zeros instead of its last ones.
  void check_end(const Section& section, std::uint64_t zeros_at, std::uint64_t step, bool any) {
    if (section.filled < zeros_at + step) return;
    if (!any && !problems_.damaged) problems_.damaged = section.offset;
    if (!gap_) gap_ = section.offset + zeros_at;
  }

  // Zeros fill the section of a PE image up to its file alignment, and, linked incrementally, what each
  // object brings (catboost 1.2.7 for Windows); in an ELF file there are none.
  std::uint64_t padding_in(ByteView bytes) const {
    if (host_.format == HostFormat::elf) return 0;
    const auto end =
        std::find_if(bytes.data, bytes.data + bytes.size, [](std::uint8_t byte) { return byte != 0; });
    const auto zeros = static_cast<std::uint64_t>(end - bytes.data);
    return zeros == bytes.size ? zeros : zeros / kRegistrationAlignment * kRegistrationAlignment;
  }

  void resolve(const Section& section, std::uint64_t pointer, std::uint64_t value,
               Registration& registration) {
    const Pointer target = addresses_.pointer_at(section, pointer, value);
    if (target.to == Pointer::To::untold) {
      ++problems_.unresolved;
    } else if (target.to == Pointer::To::lost) {
      if (!problems_.unrelocated) problems_.unrelocated = section.offset + pointer;
    } else if (target.to == Pointer::To::nowhere) {
      if (++strays_ == 1) problems_.stray = StrayRegistration{section.offset + pointer, target.address};
    } else if (const auto fatbin = fatbin_at(target.offset)) {
      claimed_[*fatbin] = true;
      if (registration.device_linked) out_.fatbins[*fatbin].in_data = false;
      registration.fatbin = fatbin;
      Fatbin& each = out_.fatbins[*fatbin];
      each.emptied = each.entries.empty() && !each.packed && !registration.device_linked;
    } else if (!is_empty_fatbin(target.offset) && problems_.lost.size() < kEntriesMost) {
      problems_.lost.push_back({target.offset});
    }
  }

  std::optional<std::size_t> fatbin_at(std::uint64_t offset) const {
    const auto& all = out_.fatbins;
    const auto found =
        std::lower_bound(all.begin(), all.end(), offset,
                         [](const Fatbin& each, std::uint64_t wanted) { return each.offset < wanted; });
    if (found == all.end() || found->offset != offset || found->bare || found->offload) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
  }

  // A build may empty the section of relocatable code once that is linked (TensorFlow 2.3.0: objcopy
  // --update-section). Are the lost ones all objects that a device link joined? They are not missed, unless
  // the driver has to link them again. Whole-program objects have no id before CUDA 11.
  bool are_emptied_parts(const Ids& ids) const {
    const auto has_section = [](const Section& section) { return is_relocatable_section(section.name); };
    if (!ids.usable || std::any_of(host_.sections.begin(), host_.sections.end(), has_section)) return false;
    std::set<std::string_view> joined;
    for (const auto& [before, links] : ids.links)
      for (const DeviceLinkIds& link : links) joined.insert(link.ids.begin(), link.ids.end());
    std::size_t parts = 0;  // what stands for their section is nothing, or what the linker put next
    for (const std::string& id : ids.own) {
      if (id == kWholeProgram) continue;
      if (joined.count(id) == 0) return false;
      ++parts;
    }
    return parts == problems_.lost.size() + strays_;
  }

  // Without entries, and outside of the sections that name themselves, it is not taken for one.
  bool is_empty_fatbin(std::uint64_t offset) const {
    const auto bytes = read_bytes(source_, offset, kHeaderSize);
    return bytes && Cursor(*bytes).u32(0) == kMagic && Cursor(*bytes).u64(kSizeAt) == 0;
  }

  // Registrations and ids stand in the order in which the linker saw their objects. So a link's ids and what
  // it made stand behind the same number of objects.
  void join_ids() {
    Ids ids = read_ids(source_, host_);
    if (are_emptied_parts(ids)) {
      problems_.lost.clear();
      problems_.stray.reset();
    }
    std::size_t objects = 0;
    std::map<std::size_t, std::vector<std::size_t>> linked;  // by how many objects stand before
    for (const Registration& registration : out_.registrations) {
      if (!registration.device_linked)
        ++objects;
      else if (registration.fatbin)
        linked[objects].push_back(*registration.fatbin);
    }
    const bool told = ids.usable && ids.own.size() == objects &&
                      std::all_of(ids.links.begin(), ids.links.end(),
                                  [&](const auto& each) { return linked.count(each.first) != 0; });
    if (!told) return join_all(linked);
    std::size_t next = 0;
    for (Registration& registration : out_.registrations) {
      if (registration.device_linked) continue;
      std::string& id = ids.own[next++];
      const bool whole = id == kWholeProgram;
      if (registration.fatbin) place(out_.fatbins[*registration.fatbin], whole);
      if (!whole) registration.module_id = std::move(id);
    }
    for (auto& [before, links] : ids.links) {
      std::vector<std::size_t>& made = linked[before];
      if (made.size() == links.size()) {
        for (std::size_t i = 0; i < links.size(); ++i) links[i].linked = {made[i]};
      } else {  // two that the linker put side by side read as one
        for (std::size_t i = 1; i < links.size(); ++i)
          std::move(links[i].ids.begin(), links[i].ids.end(), std::back_inserter(links[0].ids));
        links.resize(1);
        links[0].linked = std::move(made);
      }
      std::move(links.begin(), links.end(), std::back_inserter(out_.link_ids));
    }
  }

  // What registers a fat binary tells what it is, whatever its section is called.
  static void place(Fatbin& fatbin, bool whole) {
    fatbin.relocatable |= !whole;
    fatbin.in_data = false;
  }

  void join_all(const std::map<std::size_t, std::vector<std::size_t>>& linked) {
    DeviceLinkIds all;
    all.all = true;
    for (const auto& [before, made] : linked) all.linked.insert(all.linked.end(), made.begin(), made.end());
    if (!all.linked.empty()) out_.link_ids.push_back(std::move(all));
  }

  const ByteSource& source_;
  const HostObject& host_;
  DeviceObject& out_;
  Addresses addresses_;
  std::vector<bool> claimed_;  // by fat binary; nothing registers bare images
  RegistrationProblems problems_;
  std::size_t strays_ = 0;
  std::optional<std::uint64_t> gap_;  // within the object: zeros in place of a registration
};

// Of the files' objects, the first with each id.
class PartsById {
 public:
  explicit PartsById(const DeviceCode& code) {
    for (std::size_t i = 0; i < code.objects.size(); ++i)
      for (const Registration& each : code.objects[i].registrations)
        if (!each.module_id.empty() && each.fatbin) parts_.push_back({each.module_id, {i, *each.fatbin}});
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.id < b.id; });
  }

  const FatbinRef* find(std::string_view id) const {
    const auto found =
        std::lower_bound(parts_.begin(), parts_.end(), id,
                         [](const Part& part, std::string_view wanted) { return part.id < wanted; });
    return found == parts_.end() || found->id != id ? nullptr : &found->at;
  }

 private:
  struct Part {
    std::string_view id;
    FatbinRef at;
  };
  std::vector<Part> parts_;
};

// Of a device link of nvcc's.
bool is_part(const Fatbin& fatbin) {
  return fatbin.relocatable && !fatbin.bare && !fatbin.offload;
}

}  // namespace

bool is_registration_section(std::string_view name) {
  return name == kRegistrationSection || name == kCutRegistrationSection;
}

RegistrationProblems read_registrations(const ByteSource& source, const HostObject& host, DeviceObject& out) {
  if (!has_registration_section(host) && !may_register_elsewhere(host, out)) return {};
  return RegistrationReader(source, host, out).read();
}

std::optional<Unlinked> not_device_linked(const DeviceObject& object) {
  const auto& all = object.registrations;
  const bool any_link =
      std::any_of(all.begin(), all.end(), [](const Registration& each) { return each.device_linked; });
  const bool told = std::none_of(object.link_ids.begin(), object.link_ids.end(),
                                 [](const DeviceLinkIds& link) { return link.all; });
  std::vector<std::string_view> joined;  // sorted
  for (const DeviceLinkIds& link : object.link_ids)
    joined.insert(joined.end(), link.ids.begin(), link.ids.end());
  std::sort(joined.begin(), joined.end());
  for (const Registration& each : all) {
    if (!each.fatbin || !object.fatbins[*each.fatbin].relocatable) continue;
    if (!any_link) return Unlinked{*each.fatbin, {}};
    if (told && !each.module_id.empty() && !std::binary_search(joined.begin(), joined.end(), each.module_id))
      return Unlinked{*each.fatbin, each.module_id};
  }
  return std::nullopt;
}

void find_device_links(DeviceCode& code) {
  const bool any = std::any_of(code.objects.begin(), code.objects.end(),
                               [](const DeviceObject& object) { return !object.link_ids.empty(); });
  if (!any) return;
  const PartsById parts(code);
  // An object is in one device link, and its host code calls the registration of that one.
  std::vector<std::vector<bool>> taken;
  for (const DeviceObject& object : code.objects) taken.emplace_back(object.fatbins.size());
  const auto take = [&](DeviceLink& link, FatbinRef part) {
    const bool is_new = !taken[part.object][part.fatbin];
    taken[part.object][part.fatbin] = true;
    if (is_new) link.parts.push_back(part);
    return is_new;
  };
  for (std::size_t i = 0; i < code.objects.size(); ++i) {
    DeviceObject& object = code.objects[i];
    for (DeviceLinkIds& ids : object.link_ids) {
      DeviceLink link;
      for (const std::size_t linked : ids.linked) link.linked.push_back({i, linked});
      for (std::size_t j = 0; ids.all && j < object.fatbins.size(); ++j)
        if (is_part(object.fatbins[j])) take(link, {i, j});
      for (std::string& id : ids.ids) {
        const FatbinRef* part = parts.find(id);
        if (part == nullptr || !take(link, *part)) link.absent.push_back(std::move(id));
      }
      if (!link.parts.empty() || !link.absent.empty()) code.links.push_back(std::move(link));
    }
    object.link_ids.clear();
  }
}

}  // namespace archguard::fatbin
