// Lines that promise something.
//
// conda: a requirement on __cuda_arch, on cuda-arch, whose packages ask for it, or on __cuda (CEP 46, CEP
// 30):
// `>=7.5,<10`, alternatives with `|`.
// An image's environment: NVIDIA_REQUIRE_*, as src/requirements/oci.cc has them. A term with `brand` is about
// the package cuda-compat in the image, whose driver is another than the host's: it is passed over.
// EasyBuild: cuda_compute_capabilities of an easyconfig, or the option; each is SASS for this device.
#include "base/printable.h"
#include "base/text.h"
#include "promise/promise.h"

namespace archguard::promise {
namespace {

constexpr std::string_view kSpecSigns = "<>=!";

// "7.5", "12", "535.104.05": the first two parts.
std::optional<Version> leading_version(std::string_view text) {
  const auto parts = split(text, '.');
  const auto major = parse_number(parts[0], 9999);
  const auto minor = parts.size() < 2 ? std::optional<std::uint64_t>(0) : parse_number(parts[1], 9999);
  if (!major || !minor) return std::nullopt;
  for (std::size_t i = 2; i < parts.size(); ++i)
    if (!parse_number(parts[i], 999999)) return std::nullopt;
  return Version{static_cast<int>(*major), static_cast<int>(*minor)};
}

std::optional<Condition> condition_in(std::string_view text, Condition::Of of) {
  text = trim(text);
  const auto value = text.find_first_not_of(kSpecSigns);
  if (value == std::string_view::npos) return std::nullopt;
  std::string comparator(text.substr(0, value));
  if (comparator == "==") comparator = "=";
  const auto version = leading_version(trim(text.substr(value)));
  for (const char* known : {">=", ">", "<=", "<", "=", "!="})
    if (version && comparator == known) return Condition{of, comparator, *version};
  return std::nullopt;
}

std::string_view unquoted_text(std::string_view text) {
  text = trim(text);
  while (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = trim(text.substr(1, text.size() - 2));
  return text;
}

Result<bool> read_conda(std::string_view spec, Condition::Of of, const std::string& where, Promise& promise) {
  Alternatives alternatives;
  for (const std::string_view alternative : split(spec, '|')) {
    Term term;
    for (const std::string_view each : split(alternative, ',')) {
      const auto condition = condition_in(each, of);
      const std::string_view bound = trim(each);
      if (starts_with(bound, "=") && !starts_with(bound, "=="))  // "=10" is 10.* to conda
        return Error{where,
                     "'" + printable(bound) + "' begins with =, which matches all versions that begin so",
                     "write both bounds: >=10,<11; or == for one version"};
      if (!condition)
        return Error{where, "'" + printable(trim(spec)) + "' is no bound that is known", "write it as >=7.5"};
      term.push_back(*condition);
    }
    alternatives.push_back(std::move(term));
  }
  promise.admits.push_back(std::move(alternatives));
  return true;
}

Result<bool> read_oci(std::string_view value, const std::string& where, Promise& promise) {
  Alternatives alternatives;
  for (const std::string_view alternative : split(value, ' ')) {
    Term term;
    bool of_compat = alternative.empty();
    for (const std::string_view each : split(alternative, ',')) {
      if (each.empty()) continue;
      const std::string_view name = each.substr(0, each.find_first_of(kSpecSigns));
      of_compat |= name == "brand";
      if (name == "brand") continue;
      const auto of = name == "arch"     ? std::optional(Condition::Of::arch)
                      : name == "cuda"   ? std::optional(Condition::Of::cuda)
                      : name == "driver" ? std::optional(Condition::Of::driver)
                                         : std::nullopt;
      const auto condition = of ? condition_in(each.substr(name.size()), *of) : std::nullopt;
      if (!condition)
        return Error{where, "'" + printable(each) + "' is no constraint that is known",
                     "write arch, cuda, driver or brand, a comparison and a version: arch>=7.5"};
      term.push_back(*condition);
    }
    if (!of_compat) alternatives.push_back(std::move(term));
  }
  if (alternatives.empty()) return false;
  promise.admits.push_back(std::move(alternatives));
  return true;
}

Result<bool> read_easybuild(std::string_view list, const std::string& where, Promise& promise) {
  Alternatives alternatives;
  std::string words(list);
  for (char& c : words)
    if (std::string_view("[](),;'\"=: \t\r").find(c) != std::string_view::npos) c = ' ';
  for (const std::string_view word : split(words, ' ')) {
    if (word.empty()) continue;
    std::string number(word);
    Suffix suffix = suffix_of(number.back());
    if (suffix != Suffix::none) number.pop_back();
    const auto capability = parse_capability(number);
    if (!capability)
      return Error{where, "'" + printable(word) + "' is no compute capability", "write 8.0, or 9.0a"};
    promise.images.push_back({{arch_of(*capability).number, suffix}, true});
    alternatives.push_back({{Condition::Of::arch, "=", {capability->major, capability->minor}}});
  }
  if (alternatives.empty()) return false;
  promise.admits.push_back(std::move(alternatives));
  return true;
}

// Without what stands around it in YAML, a Dockerfile or a list.
std::string_view item_of(std::string_view line) {
  line = trim(line);
  for (const std::string_view before : {"- ", "ENV ", "export ", "--env ", "-e "})
    if (starts_with(line, before)) line = trim(line.substr(before.size()));
  if (const auto comment = line.find(" #"); comment != std::string_view::npos)
    line = trim(line.substr(0, comment));
  if (ends_with(line, ",")) line = trim(line.substr(0, line.size() - 1));
  return unquoted_text(line);
}

bool is_easybuild(std::string_view name) {
  return name == "cuda_compute_capabilities" || name == "--cuda-compute-capabilities" ||
         name == "cuda-compute-capabilities";
}

bool is_conda(std::string_view name) {
  return name == "__cuda_arch" || name == "cuda-arch" || name == "__cuda";
}

Result<bool> read_statement(std::string_view name, std::string_view rest, const std::string& where,
                            Promise& promise) {
  if (is_conda(name))
    return read_conda(rest, name == "__cuda" ? Condition::Of::cuda : Condition::Of::arch, where, promise);
  if (is_easybuild(name)) return read_easybuild(rest, where, promise);
  if (starts_with(rest, "=") || starts_with(rest, ":")) rest.remove_prefix(1);
  return read_oci(unquoted_text(rest), where, promise);
}

}  // namespace

Result<bool> read_line(std::string_view line, const std::string& where, Promise& promise) {
  const std::string_view item = item_of(line);
  if (item.empty() || item.front() == '#') return false;
  const std::string_view name = item.substr(0, item.find_first_of(" \t<>=!:[+"));
  const std::string_view rest = trim(item.substr(name.size()));
  if (!is_conda(name) && !is_easybuild(name) && !starts_with(name, "NVIDIA_REQUIRE_")) return false;
  if (is_conda(name) && (rest.empty() || rest == "*")) return false;
  const auto [told, is_new] = promise.told.try_emplace(std::string(name), rest);
  if (!is_new && told->second == rest) return true;
  if (!is_new)
    return Error{where,
                 "says '" + printable(name) + "' twice, and not the same: which of both holds is not known",
                 "name what holds: --promise " + quoted_for_shell(item)};
  return read_statement(name, rest, where, promise);
}

}  // namespace archguard::promise
