#include "doctor/package_code.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "base/text.h"
#include "compat/rules.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

namespace archguard::doctor {
namespace {

// Files that differ in a number alone are alternatives, of which the package takes one:
// libbitsandbytes_cuda118.so, sm90/common_ops.so. libbitsandbytes_cuda118_nocublaslt.so is one, too.
std::string without_numbers(const std::string& path) {
  std::string text;
  for (const char c : path)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  constexpr std::string_view kOlderGpus = "_nocublaslt";
  if (const auto at = text.find(kOlderGpus); at != std::string::npos) text.erase(at, kOlderGpus.size());
  return text;
}

// Without its main files a package does nothing on a GPU, whatever its other files have: torch's linear
// algebra (MAGMA) has code for 5.0 and 6.0 in releases whose libtorch_cuda.so begins with 7.0. With them it
// runs, whatever the others lack: the cuSPARSELt inside torch 2.3 is for 8.x alone. Those of
// bench/releases.json.
struct MainFiles {
  std::string_view package, folder;
  std::vector<std::string_view> beginnings;
};

const std::vector<MainFiles>& all_main_files() {
  static const std::vector<MainFiles> all = {
      {"torch", "lib", {"libtorch_cuda.", "libtorch_cuda_cu.", "libtorch_cuda_cpp.", "torch_cuda."}},
      {"vllm", "vllm", {"_C.", "_moe_C."}},
      {"xformers", "xformers", {"_C."}},
  };
  return all;
}

bool is_file_of(const MainFiles& files, const std::string& path) {
  if (file_name_of(folder_of(path)) != files.folder) return false;
  const std::string name = file_name_of(path);
  return std::any_of(files.beginnings.begin(), files.beginnings.end(),
                     [&](std::string_view each) { return starts_with(name, each); });
}

}  // namespace

std::vector<Arch> named_archs(const std::string& path) {
  std::vector<Arch> archs;
  const auto folder = folder_of(path);
  const std::string text = "/" + file_name_of(folder) + "/" + file_name_of(path);
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    auto end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const bool marked =
        (i >= 2 && text.compare(i - 2, 2, "sm") == 0) || (i >= 3 && (text.compare(i - 3, 3, "sm_") == 0));
    const bool has_suffix =
        end < text.size() && (text[end] == 'a' || text[end] == 'f') &&
        (end + 1 == text.size() || std::isalnum(static_cast<unsigned char>(text[end + 1])) == 0);
    if (has_suffix) ++end;
    if (const auto arch = parse_arch(text.substr(i, end - i)); arch && marked) archs.push_back(*arch);
    i = end;
  }
  return archs;
}

bool is_for_another(const CodeFile& file, ComputeCapability device) {
  const auto named = named_archs(file.path);
  return !named.empty() && std::none_of(named.begin(), named.end(), [&](Arch each) {
    return each.suffix == Suffix::none ? capability_of(each).major == device.major
                                       : sass_fits(each, device) != Fit::no;
  });
}

PackageFit fit_of_package(const Facts& facts, const PackageCode& package, std::size_t of_class) {
  std::map<std::string, bool> any_serves;  // of alternatives
  for (const CodeFile* file : package.files)
    any_serves[without_numbers(file->path)] |= file->fits[of_class].state == FileFit::State::served;
  PackageFit fit;
  for (const CodeFile* file : package.files) switch (file->fits[of_class].state) {
      case FileFit::State::served:
        fit.served.push_back(file);
        break;
      case FileFit::State::lacking:
        // Another that would run is no answer where the given error says that this one was taken.
        if (!any_serves[without_numbers(file->path)] ||
            (file->fits[of_class].code() == kUnsupportedPtxVersion &&
             is_given(facts, kUnsupportedPtxVersion)))
          fit.lacking.push_back(file);
        break;
      case FileFit::State::partly:
        if (!any_serves[without_numbers(file->path)]) fit.partly.push_back(file);
        break;
      case FileFit::State::unknown:
        fit.unknown.push_back(file);
        break;
      case FileFit::State::no_code:
        break;
    }
  return fit;
}

bool is_main_file(const CodeFile& file) {
  const auto& all = all_main_files();
  return std::any_of(all.begin(), all.end(), [&](const MainFiles& each) {
    return file.owner && file.owner->name == each.package && is_file_of(each, file.path);
  });
}

bool is_called_like_main_file(const std::string& path) {
  const auto& all = all_main_files();
  return std::any_of(all.begin(), all.end(), [&](const MainFiles& each) { return is_file_of(each, path); });
}

bool any_is_main(const std::vector<const CodeFile*>& files) {
  return std::any_of(files.begin(), files.end(), [](const CodeFile* file) { return is_main_file(*file); });
}

std::string library_stem(const std::string& path) {
  const std::string name = file_name_of(path);
  return name.substr(0, name.find('.'));
}

bool is_of_nvidia(const PackageCode& package) {
  const auto& owner = package.files.front()->owner;
  return owner && (starts_with(owner->name, "nvidia-") || owner->name == "nccl-extensions");
}

}  // namespace archguard::doctor
