#include "fatbin/host_copies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mangled_name.h"
#include "base/text.h"
#include "elf/elf.h"
#include "fatbin/dynamic_symbols.h"
#include "io/window.h"

namespace archguard::fatbin {
namespace {

// How the function of cudafe++'s ends that registers an object's device code: a local symbol, one for each
// object.
constexpr std::string_view kRegisterAll = "__sti____cudaRegisterAllv";
// What it calls, unless the compiler put that into it.
constexpr std::string_view kRegisterEach = "__nv_cudaEntityRegisterCallback";
constexpr std::uint64_t kCopySymbolsMost = std::uint64_t{1} << 22;
constexpr std::size_t kCopyWorkMost = std::size_t{1} << 29;  // bytes of symbols' names, for each variable
constexpr std::size_t kCopiesMost = std::size_t{1} << 16;
constexpr std::size_t kCopySymbolSize = 24, kCopySymbolsAtOnce = 512;
constexpr std::size_t kCopyNameMost = std::size_t{64} * 1024, kCopyNamesBlock = std::size_t{1} << 18;
constexpr std::string_view kManaged = "__nv_managed_data__";
constexpr unsigned kObjectType = 1, kFunctionType = 2, kSectionType = 3, kFileType = 4;  // STT_…
constexpr unsigned kCopyLocalBinding = 0;                                                // STB_LOCAL

// How a mangled name has a variable's own: its length and itself. Of _Z5tableIfE and _ZN1a5tableE "5table";
// nothing of other mangled names.
std::optional<std::string> own_name(std::string_view variable) {
  if (!starts_with(variable, "_Z")) return std::to_string(variable.size()) + std::string(variable);
  const auto last = last_plain_name(variable);
  if (!last || last->is_static) return std::nullopt;
  const std::string_view rest = variable.substr(last->end);
  if (!rest.empty() && rest != "E" && rest[0] != 'I') return std::nullopt;
  return std::string(variable.substr(last->begin, last->end - last->begin));
}

// Substitutions (Itanium C++ ABI, "Compression": S_, S0_, …) count the namespaces before them, of which the
// copy of what is static in a file has one fewer.
std::string without_numbers_of_substitutions(std::string_view mangled) {
  std::string text;
  for (std::size_t at = 0; at < mangled.size(); ++at) {
    text += mangled[at];
    if (mangled[at] != 'S') continue;
    const auto end = mangled.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
    if (end != std::string_view::npos && mangled[end] == '_') at = end - 1;
  }
  return text;
}

// Is it how cudafe++ calls a variable's copy? table, _ZL5table, _ZN1a5tableE become _ZL5table, _ZL5table and
// _ZN1aL5tableE, as if what is static in a file were in no namespace for that. Of a template _ZN1a5tableIfEE
// becomes _ZN1aL5tableIfEE, and one that is static in a file _Z5tableIfE.
bool is_host_copy_of(std::string_view symbol, std::string_view variable, const std::string& own) {
  constexpr std::size_t kNumberMost = 64;  // that many digits fewer or more, in all substitutions
  if (symbol == variable) return true;
  if (!starts_with(variable, "_Z")) return symbol == "_ZL" + own;
  const auto path = within_file_namespace(variable);
  const auto name = last_plain_name(variable);
  if (!path || !name || !ends_with(*path, "E")) return false;
  const std::size_t begin = path->size() - (variable.size() - name->begin);
  const std::string outer(path->substr(0, begin)), rest(path->substr(begin));  // of `rest`, the last is E
  if (!starts_with(rest, own)) return false;
  const bool plain = rest.size() == own.size() + 1;
  const std::string copy =
      !outer.empty() ? "_ZN" + outer + "L" + rest : (plain ? "_ZL" : "_Z") + rest.substr(0, rest.size() - 1);
  if (symbol == copy) return true;
  if (symbol.size() > copy.size() + kNumberMost || copy.size() > symbol.size() + kNumberMost) return false;
  const bool of_file = variable.size() != path->size() + std::string_view("_ZN").size();
  return of_file && without_numbers_of_substitutions(symbol) == without_numbers_of_substitutions(copy);
}

// The symbols of a 64-bit ELF file: u32 name, u8 type and binding, u8, u16 section, u64 value, u64 size.
class CopySymbols {
 public:
  explicit CopySymbols(const std::set<std::string>& names) {
    for (const std::string& name : names)
      if (auto own = own_name(name))
        owns_.emplace_back(std::move(*own), name);
      else
        used.insert(name);
  }

  // False where the tables cannot be read, or are too large.
  bool read(const ByteSource& source, const HostObject& host) {
    const Section *symbols = section_of(host, ".symtab"), *texts = section_of(host, ".strtab");
    if (symbols == nullptr || texts == nullptr) return false;
    const std::uint64_t count = symbols->size / kCopySymbolSize;
    std::size_t file = 0;  // of what they were made of: its local symbols follow its name
    if (count > kCopySymbolsMost) return false;
    std::vector<Symbol> all;
    Window table(source, kCopySymbolSize * kCopySymbolsAtOnce, kCopySymbolSize * kCopySymbolsAtOnce);
    for (std::uint64_t i = 1; i < count; ++i) {
      const auto bytes = table.at(symbols->offset + i * kCopySymbolSize, kCopySymbolSize);
      if (!bytes) return false;
      const Cursor in(*bytes);
      const unsigned kind = in.u8(4), type = kind & 15;
      if (type == kFileType) ++file;
      if (kind >> 4 != kCopyLocalBinding) file = 0;
      if (type != kSectionType && type != kFileType)
        all.push_back({in.u32(0), type, in.u16(6) != 0, in.u64(8), in.u64(16), file});
    }
    // In the order of their names each of these is read once.
    std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a.name < b.name; });
    Window text(source, kCopyNamesBlock, kCopyNamesBlock);
    std::uint64_t read = UINT64_MAX;  // the name that `name_` is
    for (const Symbol& each : all) {
      if (each.name != read) {
        const auto name = each.name < texts->size ? text.text_at(texts->offset + each.name, kCopyNameMost)
                                                  : Result<std::string>(Error{});
        if (!name || name->size() == kCopyNameMost || !compare(*name)) return false;
        read = each.name;
      }
      if (!add(each)) return false;
    }
    if (!join()) return false;
    doubt(all, host);
    return true;
  }

  std::vector<HostCopy> copies;   // ascending, of no common bytes
  std::set<std::string> used;     // as far as nobody can tell otherwise
  std::uint64_t registering = 0;  // objects

  // The code that registers.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> take_code() {
    std::sort(code_.begin(), code_.end());
    return std::move(code_);
  }

 private:
  struct Symbol {
    std::uint32_t name = 0;
    unsigned type = 0;
    bool defined = false;
    std::uint64_t value = 0, size = 0;
    std::size_t file = 0;  // none of a global one
  };

  // Takes the name that the next symbols have. False where that is more work than a real file makes.
  bool compare(const std::string& name) {
    const std::size_t work = (name.size() + 1) * (owns_.size() + 1);
    if (work > left_) return false;
    left_ -= work;
    registers_ = ends_with(name, kRegisterAll);
    registers_each_ = registers_ || name.find(kRegisterEach) != std::string::npos;
    variables_.clear();
    surely_.clear();
    for (const auto& [own, variable] : owns_) {
      // -rdc=true leaves the variable's own name.
      if (name != variable && (!starts_with(name, "_Z") || name.find(own) == std::string::npos)) continue;
      variables_.push_back(variable);
      if (is_host_copy_of(name, variable, own)) surely_ = variable;
    }
    return true;
  }

  bool add(const Symbol& symbol) {
    if (symbol.type == kFunctionType) {
      registering += registers_ ? 1 : 0;
      if (registers_) files_.insert(symbol.file);
      if (registers_each_ && symbol.defined && symbol.size <= UINT64_MAX - symbol.value)
        code_.emplace_back(symbol.value, symbol.value + symbol.size);
      return true;
    }
    if (variables_.empty()) return true;
    if (symbol.type != kObjectType || !symbol.defined || symbol.size == 0 ||
        symbol.size > UINT64_MAX - symbol.value) {
      used.insert(variables_.begin(), variables_.end());
      return true;
    }
    names_of_copies_ += variables_.size();
    if (names_of_copies_ > kCopiesMost) return false;
    copies.push_back({symbol.value,
                      symbol.value + symbol.size,
                      {variables_.begin(), variables_.end()},
                      surely_,
                      symbol.file});
    return true;
  }

  // What has another name as well, such as the end of .data, may be meant by that, and of another file's
  // variables no device code is known. What has a value is as well a host table of that name, which `#ifndef
  // __CUDA_ARCH__` puts in the place of the device's: of copies only those of constants have one. That of a
  // managed variable is a pointer, which the runtime sets, in a section of its own.
  void doubt(const std::vector<Symbol>& all, const HostObject& host) {
    std::map<std::uint64_t, std::size_t> names;
    for (const HostCopy& each : copies) names.emplace(each.begin, 0);
    for (const Symbol& each : all)
      if (const auto found = names.find(each.value); found != names.end()) ++found->second;
    std::map<std::uint64_t, std::uint64_t> empty;  // sections, by address: their size
    for (const Section& each : host.sections)
      if (each.loaded && (!each.has_bytes || each.name == kManaged)) empty[each.address] = each.size;
    const auto is_empty = [&](std::uint64_t place) {
      const auto behind = empty.upper_bound(place);
      return behind != empty.begin() && place - std::prev(behind)->first < std::prev(behind)->second;
    };
    for (HostCopy& each : copies) {
      if (!is_empty(each.begin) || names[each.begin] != 1 || each.file == 0 || files_.count(each.file) == 0)
        each.surely.clear();
    }
  }

  // What is at one place once. False where they share bytes otherwise.
  bool join() {
    std::sort(copies.begin(), copies.end(), [](const HostCopy& a, const HostCopy& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    std::vector<HostCopy> joined;
    for (HostCopy& each : copies) {
      if (joined.empty() || joined.back().end <= each.begin)
        joined.push_back(std::move(each));
      else if (joined.back().begin == each.begin && joined.back().end == each.end)
        joined.back().names.merge(each.names);
      else
        return false;
    }
    copies = std::move(joined);
    return true;
  }

  std::vector<std::pair<std::string, std::string>> owns_;  // and the variable
  std::size_t left_ = kCopyWorkMost, names_of_copies_ = 0;
  std::set<std::size_t> files_;                      // that register device code
  bool registers_ = false, registers_each_ = false;  // by the name that was compared last
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;
  std::vector<std::string> variables_;  // whose own names are in it
  std::string surely_;                  // whose copy it is
};

}  // namespace

std::optional<HostCopies> find_host_copies(const ByteSource& source, const HostObject& host,
                                           const DeviceObject& object, const std::set<std::string>& names) {
  const auto header = read_elf_header(source);
  if (!header || !header->is64) return std::nullopt;
  CopySymbols symbols(names);
  if (!symbols.read(source, host)) return std::nullopt;
  const auto registering = std::count_if(object.registrations.begin(), object.registrations.end(),
                                         [](const Registration& each) { return !each.device_linked; });
  if (symbols.registering < static_cast<std::uint64_t>(registering)) return std::nullopt;
  return HostCopies{std::move(symbols.copies), std::move(symbols.used), symbols.take_code()};
}

}  // namespace archguard::fatbin
