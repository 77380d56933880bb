#include "diff/baseline.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "report/names.h"

namespace archguard {
namespace {

using BaselineJson = nlohmann::json;

constexpr const char* kInspectSchema = "archguard.inspect/1";
constexpr EntryKind kKinds[] = {EntryKind::sass, EntryKind::ptx, EntryKind::ltoir, EntryKind::reloc_ptx,
                                EntryKind::other};
constexpr Coverage kCoverages[] = {Coverage::covered, Coverage::not_covered, Coverage::unknown};

void write_size(const DiffSize& size, JsonWriter& json) {
  json.number("images", size.images);
  json.number("kernels", size.kernels);
  json.number("size", size.stored);
  json.number("uncompressed_size", size.uncompressed);
}

constexpr std::pair<Runs, const char*> kRuns[] = {
    {Runs::nowhere, "nowhere"}, {Runs::in_some, "in_some"}, {Runs::unknown, "unknown"}};

// The indices that are so, as ranges: first and last of each.
void write_ranges(const NotAll& not_all, Runs runs, const char* key, JsonWriter& json) {
  json.begin_list(key);
  std::optional<std::pair<std::size_t, std::size_t>> range;
  const auto write = [&] {
    json.number_element(range->first);
    json.number_element(range->second);
  };
  for (const auto& [index, each] : not_all) {
    if (each != runs) continue;
    if (range && index == range->second + 1) {
      range->second = index;
      continue;
    }
    if (range) write();
    range = {index, index};
  }
  if (range) write();
  json.end();
}

// Equal verdicts are written once, with the devices that have them.
void write_verdicts(const std::vector<DiffVerdict>& verdicts, JsonWriter& json) {
  json.begin_list("verdicts");
  std::vector<bool> written(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (written[i]) continue;
    const DiffVerdict& verdict = verdicts[i];
    json.begin_object();
    json.begin_list("devices");
    for (std::size_t other = i; other < verdicts.size(); ++other) {
      if (!(verdicts[other] == verdict)) continue;
      json.number_element(other);
      written[other] = true;
    }
    json.end();
    json.message("verdict", name_of(verdict.coverage));
    json.number("code", verdict.code);
    json.text("what", verdict.what);
    json.text("found", verdict.found);
    json.text("fix", verdict.fix);
    for (const auto& [runs, key] : kRuns) write_ranges(verdict.not_all, runs, key, json);
    json.end();
  }
  json.end();
}

// Reads what write_baseline() wrote. Where something is not as it is there, `bad()`.
class BaselineReader {
 public:
  bool bad() const { return bad_; }

  DiffSide side(const BaselineJson& coverage, const std::string& path) {
    DiffSide side;
    side.name = path;
    side.archguard = text(member(coverage, "archguard"));
    side.scope = text(member(coverage, "scope"));
    side.embedded = text(member(coverage, "embedded"));
    for (const BaselineJson& each : list(coverage, "devices")) side.devices.push_back(device(each));
    for (const BaselineJson& entry : list(coverage, "files")) {
      if (bad_) break;
      DiffFile file{name(entry, "path"), name(entry, "member"), name(entry, "key")};
      file.has_code = flag(entry, "has_code");
      read_sizes(entry, file.sizes);
      for (const bool is_variable : {false, true})
        for (std::string& name : names(entry, is_variable ? "variables" : "kernels"))
          file.names.push_back({is_variable, std::move(name)});
      if (!std::is_sorted(file.names.begin(), file.names.end())) bad_ = true;
      read_verdicts(entry, side.devices.size(), file);
      side.files.push_back(std::move(file));
    }
    return side;
  }

  const BaselineJson& member(const BaselineJson& object, const char* key) {
    static const BaselineJson none;
    if (object.is_object())
      if (const auto found = object.find(key); found != object.end()) return *found;
    bad_ = true;
    return none;
  }

  const BaselineJson& list(const BaselineJson& object, const char* key) {
    static const BaselineJson none = BaselineJson::array();
    const BaselineJson& found = member(object, key);
    if (found.is_array()) return found;
    bad_ = true;
    return none;
  }

  std::string text(const BaselineJson& value) {
    if (value.is_string()) return value.get<std::string>();
    bad_ = bad_ || !value.is_null();
    return {};
  }

 private:
  std::uint64_t number(const BaselineJson& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    bad_ = true;
    return 0;
  }

  bool flag(const BaselineJson& object, const char* key) {
    const BaselineJson& value = member(object, key);
    if (value.is_boolean()) return value.get<bool>();
    bad_ = true;
    return false;
  }

  bool flag_or_not(const BaselineJson& object, const char* key) {
    return object.is_object() && object.contains(key) && flag(object, key);
  }

  std::string of_digits(const std::string& digits) {
    const auto bytes = bytes_of_hex(digits);
    bad_ = bad_ || !bytes;
    return bytes.value_or(std::string());
  }

  // As it was, where it is not UTF-8.
  std::string name(const BaselineJson& object, const char* key) {
    if (object.is_object())
      if (const auto bytes = object.find(std::string(key) + "_bytes"); bytes != object.end())
        return of_digits(text(*bytes));
    return text(member(object, key));
  }

  std::vector<std::string> names(const BaselineJson& object, const char* key) {
    std::vector<std::string> all;
    for (const BaselineJson& each : list(object, key)) all.push_back(text(each));
    const auto bytes = object.find(std::string(key) + "_bytes");
    if (bytes == object.end()) return all;
    if (!bytes->is_array() || bytes->size() != all.size()) {
      bad_ = true;
      return all;
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!(*bytes)[i].is_null()) all[i] = of_digits(text((*bytes)[i]));
    return all;
  }

  DiffDevice device(const BaselineJson& object) {
    DiffDevice device;
    const auto capability = parse_capability(text(member(object, "compute_capability")));
    const std::string cuda = text(member(object, "driver_cuda"));
    if (!cuda.empty()) device.driver_cuda = parse_version(cuda);
    bad_ = bad_ || !capability || (!cuda.empty() && !device.driver_cuda);
    device.capability = capability.value_or(ComputeCapability{});
    device.cuda_at_least = flag_or_not(object, "cuda_at_least");
    device.may_have_compat = flag_or_not(object, "may_have_compat");
    return device;
  }

  // Also of one that no table has: "0", "5".
  std::optional<Arch> arch(const std::string& text) {
    if (const auto known = parse_arch(text)) return known;
    if (const auto digits = parse_number(text, 999999)) return Arch{static_cast<int>(*digits), Suffix::none};
    return std::nullopt;
  }

  void read_sizes(const BaselineJson& object, DiffSizes& sizes) {
    for (const auto& [name, archs] : member(object, "sizes").items()) {
      const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                      [&, key = name](EntryKind each) { return name_of(each) == key; });
      bad_ = bad_ || kind == std::end(kKinds) || !archs.is_object();
      if (bad_) return;
      for (const auto& [of, size] : archs.items()) {
        const auto known = arch(of);
        bad_ = bad_ || !known;
        if (bad_) return;
        sizes[{*kind, *known}] = {number(member(size, "images")), number(member(size, "kernels")),
                                  number(member(size, "size")), number(member(size, "uncompressed_size"))};
      }
    }
  }

  void read_ranges(const BaselineJson& ranges, std::size_t names, Runs runs, NotAll& not_all) {
    bad_ = bad_ || ranges.size() % 2 != 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < ranges.size() && !bad_; i += 2) {
      const std::uint64_t first = number(ranges[i]), last = number(ranges[i + 1]);
      bad_ = bad_ || first < next || last < first || last >= names;
      if (bad_) return;
      for (std::uint64_t index = first; index <= last; ++index)
        not_all.emplace_back(static_cast<std::size_t>(index), runs);
      next = static_cast<std::size_t>(last) + 1;
    }
  }

  DiffVerdict verdict(const BaselineJson& entry, std::size_t names) {
    DiffVerdict verdict;
    const std::string name_of_it = text(member(entry, "verdict"));
    const auto* coverage = std::find_if(std::begin(kCoverages), std::end(kCoverages),
                                        [&](Coverage each) { return name_of(each) == name_of_it; });
    const std::uint64_t code = number(member(entry, "code"));
    bad_ = bad_ || coverage == std::end(kCoverages) || code > 9999;
    if (bad_) return verdict;
    verdict.coverage = *coverage;
    verdict.code = static_cast<int>(code);
    verdict.what = name(entry, "what");
    verdict.found = name(entry, "found");
    verdict.fix = name(entry, "fix");
    for (const auto& [runs, key] : kRuns) read_ranges(list(entry, key), names, runs, verdict.not_all);
    std::sort(verdict.not_all.begin(), verdict.not_all.end());
    for (std::size_t i = 1; i < verdict.not_all.size(); ++i)  // one of each
      bad_ = bad_ || verdict.not_all[i - 1].first == verdict.not_all[i].first;
    return verdict;
  }

  // Each device has one; a file without device code none.
  void read_verdicts(const BaselineJson& object, std::size_t devices, DiffFile& file) {
    std::vector<bool> told(devices);
    file.verdicts.resize(devices);
    std::size_t count = 0;
    for (const BaselineJson& entry : list(object, "verdicts")) {
      const DiffVerdict read = verdict(entry, file.names.size());
      for (const BaselineJson& each : list(entry, "devices")) {
        const std::uint64_t index = number(each);
        bad_ = bad_ || index >= devices || told[static_cast<std::size_t>(index)];
        if (bad_) return;
        told[static_cast<std::size_t>(index)] = true;
        file.verdicts[static_cast<std::size_t>(index)] = read;
        ++count;
      }
    }
    if (count == 0 && !file.has_code) file.verdicts.clear();
    bad_ = bad_ || count != file.verdicts.size();
  }

  bool bad_ = false;
};

}  // namespace

std::string write_line(const std::string& options, const std::string& path) {
  return "archguard inspect PATH --coverage" + options + " --format json > " + path;
}

void write_baseline(const DiffSide& side, JsonWriter& json) {
  json.begin_object("coverage");
  json.message("archguard", side.archguard);
  json.message("scope", side.scope);
  json.message("embedded", side.embedded);
  json.begin_list("devices", JsonLayout::packed_lines);
  for (const DiffDevice& device : side.devices) {
    json.begin_object(JsonLayout::packed);
    json.message("compute_capability", to_string(device.capability));
    json.known_or_null("driver_cuda", device.driver_cuda);
    if (device.cuda_at_least) json.flag("cuda_at_least", true);
    if (device.may_have_compat) json.flag("may_have_compat", true);
    json.end();
  }
  json.end();
  json.begin_list("files", JsonLayout::packed_lines);
  for (const DiffFile& file : side.files) {
    json.begin_object(JsonLayout::packed);
    json.text("path", file.path);
    json.text_or_null("member", file.member);
    json.text("key", file.key);
    json.flag("has_code", file.has_code);
    json.begin_object("sizes");
    for (const EntryKind kind : kKinds) {
      json.begin_object(name_of(kind));
      for (const auto& [image, size] : file.sizes) {
        if (image.first != kind) continue;
        json.begin_object(to_string(image.second));
        write_size(size, json);
        json.end();
      }
      json.end();
    }
    json.end();
    std::vector<std::string> kernels, variables;
    for (const DiffName& name : file.names) (name.is_variable ? variables : kernels).push_back(name.text);
    json.texts("kernels", kernels);
    json.texts("variables", variables);
    write_verdicts(file.verdicts, json);
    json.end();
  }
  json.end();
  json.end();
}

Result<DiffSide> parse_baseline(std::string_view text, const std::string& path, const std::string& options) {
  const Error not_one{path, "is not the JSON of archguard inspect",
                      "write it with: " + write_line(options, path)};
  const BaselineJson document = BaselineJson::parse(text, nullptr, false);
  if (document.is_discarded())
    return Error{path, "is no whole JSON document: it was cut, or is none",
                 "write it again: " + write_line(options, path)};
  BaselineReader reader;
  const std::string schema = reader.text(reader.member(document, "schema"));
  if (reader.bad()) return not_one;
  if (schema != kInspectSchema)
    return Error{path, "has the schema '" + schema + "', and '" + kInspectSchema + "' is needed",
                 "write it with: " + write_line(options, path)};
  if (!document.contains("coverage"))
    return Error{path, "is what inspect writes without --coverage: it holds no verdicts to compare",
                 "write it with: " + write_line(options, path)};
  const BaselineJson& errors = reader.list(document, "errors");
  if (!errors.empty())
    return Error{path,
                 "is of files that were not read whole: " + reader.text(reader.member(errors[0], "what")),
                 "fix that, and write it again: " + write_line(options, path)};
  DiffSide side = reader.side(document["coverage"], path);
  for (const BaselineJson& each : reader.list(document, "passed_over"))
    side.passed_over.push_back(reader.text(each));
  if (reader.bad()) return not_one;
  return side;
}

Result<DiffSide> for_devices(DiffSide side, const std::vector<DiffDevice>& devices,
                             const std::string& options) {
  std::vector<std::size_t> order;
  for (const DiffDevice& device : devices) {
    const auto found = std::find(side.devices.begin(), side.devices.end(), device);
    if (found == side.devices.end())
      return Error{side.name, "holds no verdicts for " + to_string(device),
                   "write it with: " + write_line(options, side.name)};
    order.push_back(static_cast<std::size_t>(found - side.devices.begin()));
  }
  for (DiffFile& file : side.files) {
    if (file.verdicts.empty()) continue;
    std::vector<DiffVerdict> verdicts;
    for (const std::size_t index : order) verdicts.push_back(file.verdicts[index]);
    file.verdicts = std::move(verdicts);
  }
  side.devices = devices;
  return side;
}

}  // namespace archguard
