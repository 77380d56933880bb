#include <algorithm>

#include "base/text.h"
#include "select/select.h"

namespace archguard {
namespace {

// `80`, `90a-real`, `103f-virtual`.
std::optional<ArchEntry> cmake_entry(std::string_view token) {
  ArchEntry entry;
  if (ends_with(token, "-real")) {
    entry.virtual_ = false;
    token.remove_suffix(5);
  } else if (ends_with(token, "-virtual")) {
    entry.real = false;
    token.remove_suffix(8);
  }
  const auto arch = parse_arch(token);
  if (!arch) return std::nullopt;
  entry.arch = *arch;
  return entry;
}

// `8.0`, `9.0a`, `12.0+PTX`.
std::optional<ArchEntry> torch_entry(std::string_view token) {
  ArchEntry entry;
  entry.virtual_ = ends_with(token, "+PTX");
  if (entry.virtual_) token.remove_suffix(4);
  if (ends_with(token, "a")) entry.arch.suffix = Suffix::a;
  if (ends_with(token, "f")) entry.arch.suffix = Suffix::f;
  if (entry.arch.suffix != Suffix::none) token.remove_suffix(1);
  const auto capability = parse_capability(token);
  if (!capability) return std::nullopt;
  entry.arch.number = arch_of(*capability).number;
  return entry;
}

std::optional<ArchEntry> entry_in(std::string_view token) {
  const auto entry = cmake_entry(token);
  return entry ? entry : torch_entry(token);
}

// What the author of a wrong token most likely meant, in CMake's spelling; empty where that is anybody's
// guess.
std::string meant_by(std::string_view token) {
  std::string text = to_lower(token);
  for (const char* special : {"native", "all", "all-major"})
    if (text == special)
      return "the architectures themselves: '" + text + "' depends on the compiler or the machine";
  std::string kind;
  for (const std::string_view prefix : {"sm_", "compute_", "sm"})
    if (starts_with(text, prefix)) {
      if (prefix == "compute_") kind = "-virtual";
      text.erase(0, prefix.size());
      break;
    }
  if (ends_with(text, "+ptx")) {
    text.resize(text.size() - 4);
    kind.clear();
  }
  for (const char* ending : {"-real", "-virtual"})
    if (ends_with(text, ending)) {
      kind = ending;
      text.resize(text.size() - std::string_view(ending).size());
    }
  const auto entry = entry_in(text);
  return entry ? to_string(entry->arch) + kind : std::string();
}

Error wrong_token(std::string_view token) {
  const std::string meant = meant_by(token);
  return {"", "'" + std::string(token.substr(0, 80)) + "' is no architecture",
          meant.empty() ? "write architectures as in 80-real;90-virtual or 8.0;9.0+PTX" : "write " + meant};
}

}  // namespace

std::string to_string(const ArchEntry& entry) {
  std::string arch = to_string(entry.arch);
  if (entry.real && entry.virtual_) return arch;
  return arch + (entry.real ? "-real" : "-virtual");
}

Result<std::vector<ArchEntry>> parse_arch_list(std::string_view text) {
  std::vector<ArchEntry> entries;
  constexpr std::string_view kSeparators = ";, \t\r\n";
  while (!text.empty()) {
    const auto length = std::min(text.find_first_of(kSeparators), text.size());
    const std::string_view token = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (token.empty()) continue;
    const auto entry = entry_in(token);
    if (!entry) return wrong_token(token);
    const auto same = [&](const ArchEntry& other) {
      return other.arch == entry->arch && other.real == entry->real && other.virtual_ == entry->virtual_;
    };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(*entry);
  }
  if (entries.empty())
    return Error{"", "the list of architectures is empty", "write for example 80-real;90-virtual"};
  return entries;
}

}  // namespace archguard
