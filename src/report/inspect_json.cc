#include <fmt/format.h>
#include <iterator>

#include "base/printable.h"
#include "base/text.h"
#include "coverage/toolkit_symbols.h"
#include "report/arch_sizes.h"
#include "report/inspect.h"
#include "report/names.h"

namespace archguard {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16;

std::string quote_or_null(const std::string& text) {
  return text.empty() ? "null" : json_quote(text);
}

// Of a member of an object: what JSON cannot hold of a text stands beside it.
std::string with_bytes(const char* key, std::string value, const std::string& text) {
  const auto bytes = bytes_beside(text);
  value = fmt::format("\"{}\":{}", key, value);
  return bytes ? value + fmt::format(",\"{}_bytes\":\"{}\"", key, *bytes) : value;
}
std::string json_member(const char* key, const std::string& text) {
  return with_bytes(key, json_quote(text), text);
}
std::string json_member_or_null(const char* key, const std::string& text) {
  return with_bytes(key, quote_or_null(text), text);
}

// Written as it is read: the document of a large library is larger than what may be kept in memory.
class JsonWriter final : public InspectWriter {
 public:
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {
    put("{{\"schema\":\"archguard.inspect/1\",\"files\":[");
  }

  void begin_file(const std::string& path, const std::string& member, std::uint64_t) override {
    path_ = path;
    member_ = member;
    any_object_ = false;
  }

  void begin_object(const DeviceObject& object) override {
    sizes_.clear();
    open_object(object.member);
    runtime_code_ = object.runtime_code;
  }

  void fatbin(const DeviceObject&, const Fatbin& fatbin, const FatbinCode* code) override {
    put("{}\n{{\"offset\":{},{},\"size\":{},\"relocatable\":{},{}\"images\":[", first_fatbin_ ? "" : ",",
        fatbin.offset, json_member_or_null("section", fatbin.section), fatbin.size, fatbin.relocatable,
        fatbin.bare ? "\"bare\":true," : "");
    first_fatbin_ = false;
    for (std::size_t i = 0; i < fatbin.entries.size(); ++i) {
      if (i != 0) put(",");
      image(fatbin.entries[i], fatbin.relocatable, code == nullptr ? nullptr : &code->images[i]);
    }
    put("]}}");
    if (code != nullptr) errors_.insert(errors_.end(), code->errors.begin(), code->errors.end());
    flush_when_full();
  }

  void end_object(const DeviceObject&) override {
    put("],\"summary\":{{");
    const char* comma = "";
    for (const EntryKind kind :
         {EntryKind::sass, EntryKind::ptx, EntryKind::ltoir, EntryKind::reloc_ptx, EntryKind::other}) {
      put("{}\"{}\":{{", comma, name_of(kind));
      comma = ",";
      summary(kind, [](const ArchSize& size) { return fmt::format("{}", size.images); });
      put("}}");
    }
    put("}},\"sizes\":{{");
    comma = "";
    for (const EntryKind kind :
         {EntryKind::sass, EntryKind::ptx, EntryKind::ltoir, EntryKind::reloc_ptx, EntryKind::other}) {
      put("{}\"{}\":{{", comma, name_of(kind));
      comma = ",";
      summary(kind, [](const ArchSize& size) {
        return fmt::format("{{\"size\":{},\"uncompressed_size\":{}}}", size.stored, size.uncompressed);
      });
      put("}}");
    }
    put("}}");
    if (!runtime_code_.empty()) {
      put(",");
      put_list("runtime_code", runtime_code_);
    }
    put("}}");
  }

  void end_file(const std::vector<Error>& errors, const std::vector<std::string>& warnings) override {
    if (!any_object_) {  // a file that could not be read at all is still listed
      open_object(member_);
      sizes_.clear();
      runtime_code_.clear();
      end_object({});
    }
    errors_.insert(errors_.end(), errors.begin(), errors.end());
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  }

  void finish(const PassedOver& passed_over) override {
    put("],\"errors\":[");
    const char* comma = "";
    for (const Error& error : errors_) {
      put("{}\n{{{},{},{}}}", comma, json_member("where", error.where), json_member("what", error.what),
          json_member_or_null("fix", error.fix));
      comma = ",";
    }
    put("],");
    put_list("warnings", warnings_);
    put(",");
    put_list("passed_over", paths_of(passed_over));
    put("}}\n");
    sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
  }

  void put_list(const char* key, const std::vector<std::string>& texts) {
    std::vector<std::string> quoted, bytes;
    bool any = false;
    for (const std::string& text : texts) {
      const auto own = bytes_beside(text);
      quoted.push_back(json_quote(text));
      bytes.push_back(own ? json_quote(*own) : "null");
      any = any || own;
    }
    put("\"{}\":[{}]", key, join(quoted, ","));
    if (any) put(",\"{}_bytes\":[{}]", key, join(bytes, ","));
  }

  void flush_when_full() {
    if (buffer_.size() < kFlushAt) return;
    sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  void open_object(const std::string& member) {
    put("{}\n{{{},{},\"containers\":[", first_file_ ? "" : ",", json_member("path", path_),
        json_member_or_null("member", member));
    first_file_ = false;
    any_object_ = true;
    first_fatbin_ = true;
  }

  void image(const FatbinEntry& entry, bool relocatable, const Image* contents) {
    sizes_[{entry.kind, entry.arch}].add(entry);
    put("\n{{\"kind\":\"{}\",\"kind_code\":{},\"arch\":\"{}\",\"ptx_isa\":{},\"compression\":\"{}\","
        "\"obfuscated\":{},"
        "\"size\":{},\"uncompressed_size\":{}",
        name_of(entry.kind), entry.kind_code, to_string(entry.arch),
        entry.ptx_isa ? "\"" + to_string(*entry.ptx_isa) + "\"" : "null", name_of(entry.compression),
        entry.obfuscated, entry.stored_size, entry.uncompressed_size);
    relocatable |= entry.kind == EntryKind::reloc_ptx ||
                   (contents != nullptr && contents->code && contents->code->relocatable);
    if (relocatable) put(",\"relocatable\":true");
    if (!entry.or_archs.empty()) {
      std::vector<std::string> others;
      for (const Arch arch : entry.or_archs) others.push_back(json_quote(to_string(arch)));
      put(",\"or_archs\":[{}]", join(others, ","));
    }
    if (!entry.identifier.empty()) put(",{}", json_member("identifier", entry.identifier));
    if (entry.optix) put(",\"optix\":true");
    if (!entry.unknown.empty()) put(",\"unknown\":{}", json_quote(entry.unknown));
    if (contents != nullptr && contents->code) {
      kernels(*contents->code);
      variables(*contents->code);
    }
    put("}}");
  }

  void kernels(const ImageKernels& code) {
    put(",\"toolkit\":{},\"kernels\":[", code.toolkit ? "\"" + to_string(*code.toolkit) + "\"" : "null");
    const char* comma = "";
    for (const Kernel& kernel : code.kernels) {
      put("{}{{{},\"state\":\"{}\"", comma, json_member("name", kernel.name), name_of(kernel.state));
      if (kernel.code_size != 0) put(",\"code_size\":{}", kernel.code_size);
      put("}}");
      comma = ",";
    }
    put("]");
  }

  void variables(const ImageKernels& code) {
    put(",\"variables\":[");
    const char* comma = "";
    for (const DeviceVariable& variable : code.variables) {
      put("{}{{{},\"space\":\"{}\"", comma, json_member("name", variable.name), name_of(variable.space));
      if (variable.size != 0) put(",\"size\":{}", variable.size);
      if (is_toolkits_own(variable)) put(",\"of_toolkit\":true");
      put("}}");
      comma = ",";
    }
    put("]");
  }

  template <class Value>
  void summary(EntryKind kind, Value value) {
    const char* comma = "";
    for (const auto& [key, size] : sizes_) {
      if (key.first != kind) continue;
      put("{}\"{}\":{}", comma, to_string(key.second), value(size));
      comma = ",";
    }
  }

  Sink sink_;
  fmt::memory_buffer buffer_;
  std::string path_, member_;
  ArchSizes sizes_;                        // of the current object
  std::vector<std::string> runtime_code_;  // likewise
  std::vector<Error> errors_;
  std::vector<std::string> warnings_;
  bool first_file_ = true, first_fatbin_ = true, any_object_ = false;
};

}  // namespace

std::unique_ptr<InspectWriter> inspect_json(Sink sink) {
  return std::make_unique<JsonWriter>(std::move(sink));
}

}  // namespace archguard
