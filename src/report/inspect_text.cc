#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <type_traits>
#include <unordered_map>

#include "base/printable.h"
#include "base/text.h"
#include "coverage/judge_fatbin.h"
#include "coverage/toolkit_symbols.h"
#include "host/host_file.h"
#include "image/demangle.h"
#include "report/inspect.h"
#include "report/kernel_costs_text.h"
#include "report/names.h"

namespace archguard {
namespace {

constexpr std::size_t kInspectErrorsShown = 20;  // of one file
constexpr std::size_t kFlushTextAt = std::size_t{1} << 16;

struct KernelRow {
  std::vector<std::string> real, hollow, unknown;  // images by name
  std::uint64_t code_size = 0;                     // over all images
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

class TextWriter final : public InspectWriter {
 public:
  TextWriter(TextSink& sink, const InspectLook& look)
      : sink_(sink), look_(look), by_(look.by), kernels_(look.kernels), style_(look.style) {}

  void begin_file(const std::string& path, const std::string& member, std::uint64_t size) override {
    path_ = object_name(path, member);
    file_size_ = size;
    sizes_.clear();
    rows_.clear();
    runtime_code_.clear();
    fatbins_ = embedded_ = 0;
    device_bytes_ = 0;
    relocatable_ = 0;
  }

  void begin_object(const DeviceObject& object) override { add_runtime_code(object, runtime_code_); }
  void end_object(const DeviceObject&) override {}

  void fatbin(const DeviceObject& object, const Fatbin& fatbin, const FatbinCode* code) override {
    ++(fatbin.bare ? embedded_ : fatbins_);
    device_bytes_ += fatbin.size;
    for (const FatbinEntry& entry : fatbin.entries) sizes_[{entry.kind, entry.arch}].add(entry);
    if (fatbin.relocatable) relocatable_ += fatbin.entries.size();
    if (by_ == InspectBy::fatbin || (kernels_ && by_ == InspectBy::arch)) fatbin_lines(object, fatbin, code);
    if (look_.costs && code != nullptr)
      costs_.add(*code);
    else if (by_ == InspectBy::kernel && code != nullptr)
      collect_kernels(*code);
    if (code != nullptr) errors_.insert(errors_.end(), code->errors.begin(), code->errors.end());
    if (buffer_.size() >= kFlushTextAt) flush();
  }

  void end_file(const std::vector<Error>& errors, const std::vector<std::string>& warnings) override {
    errors_.insert(errors_.end(), errors.begin(), errors.end());
    if (by_ == InspectBy::kernel) kernel_table();
    if (fatbins_ + embedded_ != 0) {
      std::vector<std::string> parts;
      if (fatbins_ != 0) parts.push_back(count_of(fatbins_, "fat binary", "fat binaries"));
      if (embedded_ != 0) parts.push_back(count_of(embedded_, "embedded image"));
      put("{}: {} of device code in {}; the file has {}\n", style_.strong(path_), human_size(device_bytes_),
          join(parts, " and "), human_size(file_size_));
      arch_table();
    } else if (errors_.empty()) {
      put("{}: no device code\n", style_.strong(path_));
    }
    if (!runtime_code_.empty()) put("  {}\n", runtime_code_text(runtime_code_));
    for (const std::string& warning : warnings)
      put("{}{}\n", style_.warning("archguard: warning: "), warning);
    for (std::size_t i = 0; i < std::min(errors_.size(), kInspectErrorsShown); ++i) {
      const Error& error = errors_[i];
      put("{}{}\n", style_.error("archguard: error: "), error.text());
      if (!error.fix.empty()) put("  fix: {}\n", error.fix);
    }
    if (errors_.size() > kInspectErrorsShown)
      put("archguard: {} more errors in {}; --format json has them all\n",
          errors_.size() - kInspectErrorsShown, path_);
    errors_.clear();
    flush();
  }

  void finish(const PassedOver& passed_over) override {
    if (look_.costs) sink_.write(text_of(costs_.ranking(look_.top)));
    if (!passed_over.empty()) sink_.write(passed_over_text(passed_over));
    sink_.flush();
  }

 private:
  // Each text among the arguments is a part of one line.
  template <class... Arguments>
  void put(std::string_view format, const Arguments&... arguments) {
    put_shown(format, shown(arguments)...);
  }
  template <class... Arguments>
  void put_shown(std::string_view format, const Arguments&... arguments) {
    fmt::vformat_to(std::back_inserter(buffer_), format, fmt::make_format_args(arguments...));
  }
  template <class Argument>
  static auto shown(const Argument& argument) {
    if constexpr (std::is_same_v<Argument, Shown>)
      return argument.text();
    else if constexpr (std::is_convertible_v<Argument, std::string_view>)
      return printable(argument);
    else
      return argument;
  }

  void flush() {
    sink_.write({buffer_.data(), buffer_.size()});
    sink_.flush();
    buffer_.clear();
  }

  void fatbin_lines(const DeviceObject& object, const Fatbin& fatbin, const FatbinCode* code) {
    put("{}: {}{}\n", where(object, fatbin), human_size(fatbin.size),
        std::string(fatbin.relocatable ? ", relocatable" : "") + (fatbin.bare ? ", embedded" : ""));
    std::unordered_map<std::string_view, std::string> shown;  // its images have the same kernels
    for (std::size_t i = 0; i < fatbin.entries.size(); ++i) {
      const FatbinEntry& entry = fatbin.entries[i];
      put("  {:<16} {:>10}", image_name(entry), human_size(entry.stored_size));
      if (entry.compression != Compression::none)
        put("  {} of {}", name_of(entry.compression), human_size(entry.uncompressed_size));
      if (entry.ptx_isa) put("  PTX ISA {}", to_string(*entry.ptx_isa));
      if (!entry.identifier.empty()) put("  {}", entry.identifier);
      if (entry.optix) put("  for OptiX");
      if (!entry.unknown.empty()) put("  unknown: {}", entry.unknown);
      if (!fatbin.relocatable && code != nullptr && is_relocatable(code->images[i])) put("  relocatable");
      put("\n");
      if (code == nullptr || !kernels_ || !code->images[i].code) continue;
      for (const Kernel& kernel : code->images[i].code->kernels) {
        const auto [name, is_new] = shown.try_emplace(kernel.name);
        if (is_new) name->second = demangle(kernel.name);
        put("    {:<7}  {}\n", name_of(kernel.state), name->second);
      }
      for (const DeviceVariable& variable : code->images[i].code->variables) {
        if (is_toolkits_own(variable)) continue;
        const auto [name, is_new] = shown.try_emplace(variable.name);
        if (is_new) name->second = demangle(variable.name);
        put("    {:<8} {}\n", name_of(variable.space), name->second);
      }
    }
  }

  void collect_kernels(const FatbinCode& code) {
    for (const Image& image : code.images) {
      if (!image.code) continue;
      const std::string name = image_name(image.entry);
      for (const Kernel& kernel : image.code->kernels) {
        KernelRow& row = rows_[kernel.name];
        row.code_size += kernel.code_size;
        add_once(is_hollow(kernel.state)             ? row.hollow
                 : kernel.state == KernelState::real ? row.real
                                                     : row.unknown,
                 name);
      }
    }
  }

  void kernel_table() {
    for (const auto& [name, row] : rows_) {
      put("{}\n  {:<10}", style_.strong(demangle(name)),
          row.code_size != 0 ? human_size(row.code_size) : "PTX only");
      if (!row.real.empty()) put("  real: {}", join(row.real, " "));
      if (!row.hollow.empty()) put("  hollow: {}", join(row.hollow, " "));
      if (!row.unknown.empty()) put("  unknown: {}", join(row.unknown, " "));
      put("\n");
      if (buffer_.size() >= kFlushTextAt) flush();
    }
  }

  void arch_table() {
    put("  {:<6} {:<10} {:>8} {:>10} {:>10}\n", "arch", "kind", "images", "stored", "inflated");
    for (const auto& [key, size] : sizes_)
      put("  {:<6} {:<10} {:>8} {:>10} {:>10}\n", to_string(key.second), name_of(key.first), size.images,
          human_size(size.stored), human_size(size.uncompressed));
    if (relocatable_ != 0)
      put("  {} relocatable, for the device linker\n",
          count_of(relocatable_, "of these images is", "of these images are"));
  }

  static bool is_relocatable(const Image& image) { return image.code && image.code->relocatable; }

  TextSink& sink_;
  const InspectLook look_;
  InspectBy by_;
  bool kernels_;
  Style style_;
  fmt::memory_buffer buffer_;
  std::string path_;
  std::uint64_t file_size_ = 0, fatbins_ = 0, embedded_ = 0, device_bytes_ = 0, relocatable_ = 0;
  ArchSizes sizes_;
  std::map<std::string, KernelRow> rows_;
  KernelCosts costs_;  // over all files
  std::vector<Error> errors_;
  std::vector<std::string> runtime_code_;
};

}  // namespace

std::unique_ptr<InspectWriter> inspect_text(TextSink& sink, const InspectLook& look) {
  return std::make_unique<TextWriter>(sink, look);
}

}  // namespace archguard
