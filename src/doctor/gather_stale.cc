#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/bytes.h"
#include "base/text.h"
#include "doctor/gather.h"
#include "doctor/library_names.h"
#include "doctor/python_sites.h"
#include "host/elf_dynamic.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

// torch builds into "py311_cu128" of its cache, and looks nowhere else (`_get_build_directory` in
// torch/utils/cpp_extension.py); what TORCH_EXTENSIONS_DIR names has no such folders.
bool is_for_another_torch(const std::string& folder, const Facts& facts) {
  if (!starts_with(folder, "py")) return false;
  const auto line = folder.find('_');
  if (line == std::string::npos) return false;
  const std::string python = folder.substr(2, line - 2), made_for = folder.substr(line + 1);
  std::string own;
  for (const PythonEnvironment& each : facts.environments)
    if (has_site(each, facts.torch->site)) own = each.python;
  own.erase(std::remove(own.begin(), own.end(), '.'), own.end());
  if (!own.empty() && python.substr(0, own.size()) != own) return true;
  const auto& cuda = facts.torch->cuda;
  return cuda && made_for != "cu" + std::to_string(cuda->major) + std::to_string(cuda->minor);
}

// The files *.so below a folder, without the folders right in it that are `passed_over`, by name.
template <class PassedOver>
std::vector<std::string> extensions_below(const std::string& folder, PassedOver passed_over) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto entry =
           fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (entry.depth() == 0 && passed_over(file_name_of(path))) entry.disable_recursion_pending();
    if (ends_with(path, ".so")) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> torchs_extensions(const GatherQuestion& question, const Facts& facts) {
  std::string folder = variable(facts, "TORCH_EXTENSIONS_DIR");
  if (folder.empty() && !question.home.empty()) folder = question.home + "/.cache/torch_extensions";
  if (folder.empty()) return {};
  return extensions_below(folder, [&](const std::string& name) { return is_for_another_torch(name, facts); });
}

// The numbers in "80_90a" or "8.0 9.0a": 80 and 90.
std::set<std::string> numbers_in(std::string list, char between) {
  list.erase(std::remove(list.begin(), list.end(), '.'), list.end());
  std::set<std::string> numbers;
  for (const std::string_view name : split(list, between))
    numbers.emplace(name.substr(0, name.find_first_not_of("0123456789")));
  return numbers;
}

std::set<std::string> flashinfers_targets(const Facts& facts) {
  const std::string list = variable(facts, "FLASHINFER_CUDA_ARCH_LIST");
  if (!list.empty()) return numbers_in(list, ' ');
  std::set<std::string> numbers;
  for (const DeviceClass& each : facts.classes)
    numbers.merge(numbers_in(to_string(*each.device.capability), ' '));
  return numbers;
}

// flashinfer builds into RELEASE/80_90a/cached_ops of its cache, by its list or all GPUs that it sees, and
// looks nowhere else (`_get_workspace_dir_name` in flashinfer/jit/env.py; the first releases without
// RELEASE).
std::vector<std::string> flashinfers_extensions(const GatherQuestion& question, const Facts& facts) {
  std::string folder = variable(facts, "FLASHINFER_WORKSPACE_BASE");
  if (folder.empty()) folder = question.home;
  const InstalledPackage* flashinfer = installed_package(facts, "flashinfer-python");
  if (folder.empty() || flashinfer == nullptr) return {};
  folder += "/.cache/flashinfer";
  const std::string of_release = folder + "/" + flashinfer->package.version;
  std::error_code error;
  if (fs::is_directory(of_release, error)) folder = of_release;
  const std::set<std::string> targets = flashinfers_targets(facts);
  return extensions_below(folder, [&](const std::string& name) { return numbers_in(name, '_') != targets; });
}

// Names of CUDA's libraries that the loader is asked for.
std::vector<std::string> cuda_libraries_of(const std::string& path) {
  std::vector<std::string> names;
  const auto source = FileSource::open(path);
  if (!source) return names;
  const auto dynamic = read_elf_dynamic(*source);
  if (dynamic && *dynamic)
    for (const std::string& name : (*dynamic)->needed)
      if (library_name(name)) names.push_back(name);
  return names;
}

void add_stale(const char* builder, const std::vector<std::string>& paths, Facts& facts) {
  std::error_code error;
  const fs::file_time_type torch = fs::last_write_time(facts.torch->site + "/torch/version.py", error);
  const bool told = !error;
  const NamesByFile missing = missing_in_torch(facts, paths);
  for (const std::string& path : paths) {
    std::error_code of_file;
    const auto built = fs::last_write_time(path, of_file);
    auto code = read_code_file(path, facts, facts.unread);
    const auto names = missing.find(path);
    StaleFile file{builder, code ? std::move(*code) : CodeFile{}, told && !of_file && built < torch,
                   names == missing.end() ? std::vector<std::string>() : names->second,
                   cuda_libraries_of(path)};
    file.code.path = path;
    const std::string words = file_name_of(path) + ": undefined symbol: ";
    if (const auto at = facts.error_text.find(words); at != std::string::npos) {
      const auto line = facts.error_text.substr(at, facts.error_text.find('\n', at) - at);
      for (std::string& symbol : undefined_symbols(line)) file.told_symbol = std::move(symbol);
    }
    if (code || !file.missing.empty() || !file.needed.empty() || !file.told_symbol.empty())
      facts.stale.push_back(std::move(file));
  }
}

}  // namespace

// triton's cache and the driver's are not looked at: both keep code by what it was made for, and by who made
// it (the GPU and ptxas of triton's key; the driver's "is automatically invalidated when the device driver is
// upgraded", CUDA Programming Guide, Just-in-Time Compilation).
void gather_stale(const GatherQuestion& question, Facts& facts) {
  if (!facts.torch) return;
  add_stale("torch", torchs_extensions(question, facts), facts);
  add_stale("flashinfer", flashinfers_extensions(question, facts), facts);
}

}  // namespace archguard::doctor
