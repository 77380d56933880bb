#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/text.h"
#include "doctor/capability_gate.h"
#include "doctor/gather.h"
#include "explain/other_vendors.h"

namespace archguard::doctor {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kPythonFileMost = std::uint64_t{1} << 20;
constexpr std::size_t kFramesMost = 256;

struct FoundGate {
  CapabilityGate gate;
  std::size_t told = 0;
};

std::optional<FoundGate> gate_in(const std::string& path, const std::vector<std::string>& messages) {
  const auto source = FileSource::open(path);
  if (!source || source->size() > kPythonFileMost) return std::nullopt;
  const auto bytes = read_bytes(*source, 0, source->size());
  if (!bytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  auto raised = find_capability_gate(text, messages);
  if (!raised) return std::nullopt;
  return FoundGate{{path, {}, raised->line, std::move(raised->condition)}, raised->told};
}

// File "/x/site-packages/vllm/worker.py", line 463: the same module of the environments, whose files may
// stand in another folder than where it failed; the last first.
std::vector<std::string> modules_in_traceback(const Facts& facts) {
  std::vector<std::string> paths;
  const std::string& text = facts.error_text;
  for (const std::string_view folder : {"site-packages/", "dist-packages/"})
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
      constexpr std::size_t kModuleNameMost = 512;
      const std::string behind = text.substr(at + folder.size(), kModuleNameMost);
      const auto end = behind.find(".py\"");
      if (end == std::string::npos || paths.size() == kFramesMost) continue;
      const std::string module = behind.substr(0, end + 3);
      if (module.find("..") != std::string::npos || module.find('\n') != std::string::npos) continue;
      for (const PythonEnvironment& environment : facts.environments)
        for (const std::string& site : environment.sites) {
          std::error_code error;
          const std::string path = (fs::path(site) / module).string();
          if (fs::is_regular_file(path, error) && std::find(paths.begin(), paths.end(), path) == paths.end())
            paths.push_back(path);
        }
    }
  std::reverse(paths.begin(), paths.end());
  return paths;
}

}  // namespace

void gather_gate(const FoundFiles& files, Facts& facts) {
  if (facts.error_text.empty() || !other_vendor_in(facts.error_text).empty()) return;
  const std::vector<std::string> messages = raised_messages(facts.error_text);
  const std::vector<std::string> frames = modules_in_traceback(facts);
  for (const std::string& path : frames)
    if (auto found = gate_in(path, messages)) {
      facts.gate = std::move(found->gate);
      return;
    }
  // Where the error tells frames, it was raised in one of them, for another reason, or in a file elsewhere.
  if (!frames.empty() || facts.error_text.find("  File \"") != std::string::npos) return;
  constexpr std::size_t kAhead = 256;
  InOrder<std::optional<FoundGate>> all(files.modules.size(), kAhead, [&](std::size_t i, unsigned) {
    return gate_in(files.modules[i], messages);
  });
  std::size_t told = 0;
  bool is_told_twice = false;
  for (std::size_t i = 0; i < files.modules.size(); ++i) {
    auto found = all.next();
    if (!found || found->told < told) continue;
    const bool also =
        found->told == told && facts.gate && folder_of(facts.gate->path) != folder_of(found->gate.path);
    is_told_twice = also || (is_told_twice && found->told == told);
    told = found->told;
    facts.gate = std::move(found->gate);
  }
  if (is_told_twice) facts.gate.reset();  // which of the packages raised it, nothing tells
}

}  // namespace archguard::doctor
