#include "base/json.h"
#include "coverage/toolkit_symbols.h"
#include "report/error_json.h"
#include "report/inspect.h"
#include "report/kernel_costs_text.h"
#include "report/names.h"

namespace archguard {
namespace {

// Written as it is read: the document of a large library is larger than what may be kept in memory.
class InspectJson final : public InspectWriter {
 public:
  InspectJson(TextSink& sink, const InspectLook& look) : sink_(sink), look_(look), json_(sink) {
    json_.begin_object(JsonLayout::packed);
    json_.message("schema", "archguard.inspect/1");
    json_.begin_list("files", JsonLayout::packed_lines);
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
    json_.begin_object(JsonLayout::packed);
    json_.number("offset", fatbin.offset);
    json_.text_or_null("section", fatbin.section);
    json_.number("size", fatbin.size);
    json_.flag("relocatable", fatbin.relocatable);
    if (fatbin.bare) json_.flag("bare", true);
    json_.begin_list("images", JsonLayout::packed_lines);
    for (std::size_t i = 0; i < fatbin.entries.size(); ++i)
      image(fatbin.entries[i], fatbin.relocatable, code == nullptr ? nullptr : &code->images[i]);
    json_.end();
    json_.end();
    if (code == nullptr) return;
    errors_.insert(errors_.end(), code->errors.begin(), code->errors.end());
    if (look_.costs) costs_.add(*code);
  }

  void end_object(const DeviceObject&) override {
    json_.end();
    by_kind_and_arch("summary",
                     [&](const std::string& arch, const ArchSize& size) { json_.number(arch, size.images); });
    by_kind_and_arch("sizes", [&](const std::string& arch, const ArchSize& size) {
      json_.begin_object(arch);
      json_.number("size", size.stored);
      json_.number("uncompressed_size", size.uncompressed);
      json_.end();
    });
    if (!runtime_code_.empty()) json_.texts("runtime_code", runtime_code_);
    json_.end();
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
    json_.end();
    json_.begin_list("errors", JsonLayout::packed_lines);
    for (const Error& error : errors_) {
      json_.begin_object(JsonLayout::packed);
      write_members(error, json_);
      json_.end();
    }
    json_.end();
    json_.texts("warnings", warnings_);
    json_.texts("passed_over", paths_of(passed_over));
    if (look_.costs) write_costs(costs_.ranking(look_.top), json_);
    if (look_.members) look_.members(json_);
    json_.end();
    sink_.flush();
  }

 private:
  void open_object(const std::string& member) {
    json_.begin_object(JsonLayout::packed);
    json_.text("path", path_);
    json_.text_or_null("member", member);
    json_.begin_list("containers", JsonLayout::packed_lines);
    any_object_ = true;
  }

  void image(const FatbinEntry& entry, bool relocatable, const Image* contents) {
    sizes_[{entry.kind, entry.arch}].add(entry);
    json_.begin_object(JsonLayout::packed);
    json_.message("kind", name_of(entry.kind));
    json_.number("kind_code", entry.kind_code);
    json_.message("arch", to_string(entry.arch));
    json_.known_or_null("ptx_isa", entry.ptx_isa);
    json_.message("compression", name_of(entry.compression));
    json_.flag("obfuscated", entry.obfuscated);
    json_.number("size", entry.stored_size);
    json_.number("uncompressed_size", entry.uncompressed_size);
    relocatable |= entry.kind == EntryKind::reloc_ptx ||
                   (contents != nullptr && contents->code && contents->code->relocatable);
    if (relocatable) json_.flag("relocatable", true);
    if (!entry.or_archs.empty()) {
      std::vector<std::string> others;
      for (const Arch arch : entry.or_archs) others.push_back(to_string(arch));
      json_.texts("or_archs", others);
    }
    if (!entry.identifier.empty()) json_.text("identifier", entry.identifier);
    if (entry.optix) json_.flag("optix", true);
    if (!entry.unknown.empty()) json_.message("unknown", entry.unknown);
    if (contents != nullptr && contents->code) {
      kernels(*contents->code);
      variables(*contents->code);
    }
    json_.end();
  }

  void kernels(const ImageKernels& code) {
    json_.known_or_null("toolkit", code.toolkit);
    json_.begin_list("kernels");
    for (const Kernel& kernel : code.kernels) {
      json_.begin_object();
      json_.text("name", kernel.name);
      json_.message("state", name_of(kernel.state));
      if (kernel.code_size != 0) json_.number("code_size", kernel.code_size);
      json_.end();
    }
    json_.end();
  }

  void variables(const ImageKernels& code) {
    json_.begin_list("variables");
    for (const DeviceVariable& variable : code.variables) {
      json_.begin_object();
      json_.text("name", variable.name);
      json_.message("space", name_of(variable.space));
      if (variable.size != 0) json_.number("size", variable.size);
      if (is_toolkits_own(variable)) json_.flag("of_toolkit", true);
      json_.end();
    }
    json_.end();
  }

  template <class Write>
  void by_kind_and_arch(std::string_view key, Write write) {
    json_.begin_object(key);
    for (const EntryKind kind :
         {EntryKind::sass, EntryKind::ptx, EntryKind::ltoir, EntryKind::reloc_ptx, EntryKind::other}) {
      json_.begin_object(name_of(kind));
      for (const auto& [image, size] : sizes_)
        if (image.first == kind) write(to_string(image.second), size);
      json_.end();
    }
    json_.end();
  }

  TextSink& sink_;
  const InspectLook look_;
  JsonWriter json_;
  std::string path_, member_;
  ArchSizes sizes_;                        // of the current object
  std::vector<std::string> runtime_code_;  // likewise
  KernelCosts costs_;                      // over all files
  std::vector<Error> errors_;
  std::vector<std::string> warnings_;
  bool any_object_ = false;
};

}  // namespace

std::unique_ptr<InspectWriter> inspect_json(TextSink& sink, const InspectLook& look) {
  return std::make_unique<InspectJson>(sink, look);
}

}  // namespace archguard
