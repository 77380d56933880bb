#include "doctor/public_text.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace archguard::doctor {
namespace {

// Folders that every system or environment has, and words of our own that stand joined with others.
constexpr std::string_view kCommonNames[] = {
    "archguard", "architecture", "bin",   "cache",   "certain", "code",    "compat",  "compiler", "conda",
    "cpu",       "cuda",         "data",  "debian",  "device",  "dist",    "dpkg",    "driver",   "env",
    "envs",      "environment",  "error", "etc",     "file",    "folder",  "gpu",     "home",     "include",
    "jit",       "kernel",       "lib",   "libcuda", "library", "libs",    "likely",  "linux",    "local",
    "mix",       "mnt",          "not",   "nvcc",    "nvidia",  "opt",     "pip",     "prefix",   "proc",
    "ptx",       "ptxas",        "pypi",  "python",  "pyvenv",  "release", "root",    "run",      "share",
    "site",      "packages",     "src",   "stale",   "stubs",   "system",  "targets", "tmp",      "torch",
    "triton",    "usr",          "var",   "venv",    "version", "x86"};

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Between the words of a sentence, and around a path in it.
bool is_between(char c) {
  return std::string_view(" \t\n\"'()[]<>,;").find(c) != std::string_view::npos;
}

void add_words(std::string_view text, std::set<std::string>& words) {
  for (std::size_t begin = 0, at = 0; at <= text.size(); ++at)
    if (at == text.size() || !is_word_byte(text[at])) {
      if (at > begin) words.insert(to_lower(text.substr(begin, at - begin)));
      begin = at + 1;
    }
}

// Is the place in a path, or in a name like "alice-env" or "alice.so"? Then it is no word of ours.
bool is_in_name(const std::string& text, std::size_t begin, std::size_t end) {
  while (begin > 0 && !is_between(text[begin - 1])) --begin;
  const std::size_t word_end = end;
  while (end < text.size() && !is_between(text[end])) ++end;
  while (end > word_end && (text[end - 1] == '.' || text[end - 1] == ':')) --end;  // of the sentence
  const std::string_view run = std::string_view(text).substr(begin, end - begin);
  return run.find_first_of("/-_.@") != std::string_view::npos;
}

// `name` where it is a whole word. One with more than letters in it is no word of ours anywhere.
void replace_name(std::string& text, const std::string& name, std::string_view by) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) { return is_word_byte(c); }) &&
                       name.find_first_of("0123456789") == std::string::npos;
  for (auto at = text.find(name); at != std::string::npos;) {
    const auto end = at + name.size();
    const bool whole =
        (at == 0 || !is_word_byte(text[at - 1])) && (end == text.size() || !is_word_byte(text[end]));
    const bool replaced = whole && (!letters || is_in_name(text, at, end));
    if (replaced) text.replace(at, name.size(), by);
    at = text.find(name, at + (replaced ? by.size() : 1));
  }
}

// The end of the part of a path that begins here. A space may belong to it ("/home/alice smith/env"): up to
// two words more are taken for the name where a slash follows the last at once.
std::size_t end_of_part(const std::string& text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && text[end] != '/' && text[end] != ':' && !is_between(text[end])) ++end;
  std::size_t longer = end;
  for (int words = 0; words < 2 && longer < text.size() && text[longer] == ' '; ++words) {
    ++longer;
    const std::size_t word = longer;
    while (longer < text.size() && text[longer] != '/' && text[longer] != ':' && !is_between(text[longer]))
      ++longer;
    if (longer == word) break;
    if (longer < text.size() && text[longer] == '/') return longer;
  }
  return end;
}

bool begins_path(const std::string& text, std::size_t at) {
  return at == 0 || is_between(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '=';
}

void replace_home(std::string& text, const std::string& home) {
  if (home.empty()) return;
  for (auto at = text.find(home); at != std::string::npos; at = text.find(home, at + 1)) {
    const auto end = at + home.size();
    if (begins_path(text, at) && end_of_part(text, end) == end) text.replace(at, home.size(), "~");
  }
}

void replace_homes(std::string& text) {
  for (const std::string_view folder : {"home/", "Users/"})
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
      if (!begins_path(text, at) && text[at - 1] != '/') continue;
      const auto begin = at + folder.size(), end = end_of_part(text, begin);
      if (end > begin) text.replace(begin, end - begin, "USER");
    }
}

}  // namespace

PrivateNames private_names(const Diagnosis& diagnosis, const ReportWords& words) {
  PrivateNames names;
  names.told = words.full;
  names.home = words.home;
  while (!names.home.empty() && names.home.back() == '/') names.home.pop_back();
  std::set<std::string> ours(std::begin(kCommonNames), std::end(kCommonNames));
  const auto add_name = [&](const std::string& name) {
    ours.insert(to_lower(name));
    add_words(name, ours);
  };
  for (const auto& [name, version] : diagnosis.versions) {
    add_name(name);
    add_words(version, ours);
  }
  for (const Finding& finding : diagnosis.findings)
    if (finding.package) add_name(finding.package->name);
  const auto add = [&](const std::string& name, std::vector<std::string>& to) {
    if (name.size() > 2 && ours.count(to_lower(name)) == 0) to.push_back(name);
  };
  for (const std::string& user : words.users) add(user, names.users);
  add(words.host, names.hosts);
  if (const auto dot = words.host.find('.'); dot != std::string::npos)
    add(words.host.substr(0, dot), names.hosts);
  return names;
}

std::string public_text(std::string text, const PrivateNames& names) {
  if (names.told) return text;
  replace_home(text, names.home);
  replace_homes(text);
  for (const std::string& user : names.users) replace_name(text, user, "USER");
  for (const std::string& host : names.hosts) replace_name(text, host, "HOST");
  return text;
}

}  // namespace archguard::doctor
