#include "device/answer_cache.h"

#include "base/text.h"
#include "base/write_file.h"
#include "device/answers.h"
#include "device/driver_library.h"
#include "device/isolated_child.h"
#include "device/system.h"

namespace archguard {
namespace {

constexpr char kCacheSchema[] = "archguard.cache/1";
constexpr char kDeviceNodes[] = "the device nodes";

void add_state(MachineState& state, std::string name, std::string value) {
  Record entry(2);
  entry[0] = std::move(name);
  entry[1] = std::move(value);
  state.push_back(std::move(entry));
}

// "nvidia0 8630:… nvidiactl 8630:…" for the names that begin so.
std::string stamps_in(const std::string& folder, const std::vector<std::string>& prefixes) {
  std::string stamps;
  for (const auto& name : list_folder(folder))
    for (const auto& prefix : prefixes)
      if (starts_with(name, prefix)) {
        stamps.append(name).append(" ").append(file_stamp(folder + "/" + name)).append(" ");
        break;
      }
  return stamps;
}

// The GPUs that the kernel driver has taken, and the MIG instances on each.
std::string gpus_of_kernel_driver() {
  const std::string driver = "/proc/driver/nvidia";
  std::string text = join(list_folder(driver + "/gpus"), " ");
  for (const auto& gpu : list_folder(driver + "/capabilities")) {
    const std::string mig = driver + "/capabilities/" + gpu + "/mig";
    for (const auto& instance : list_folder(mig))
      text.append(" ").append(gpu).append("/").append(instance).append(":").append(
          join(list_folder(mig + "/" + instance), ","));
  }
  return text;
}

// Where the loader looks, apart from ld.so.cache, whose own stamp stands for the rest (ld.so(8)).
std::string stamps_of_libraries() {
  std::string stamps = file_stamp("/etc/ld.so.cache");
  const std::string path = environment("LD_LIBRARY_PATH").value_or("");
  std::vector<std::string> folders = {
      "/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  for (const auto folder : split(path, ':')) folders.emplace_back(folder.empty() ? "." : folder);
  for (const auto& folder : folders)
    for (const char* name : {"/libcuda.so.1", "/libnvidia-ml.so.1"})
      stamps.append(" ").append(file_stamp(folder + name));
  return stamps;
}

// Both children came to their end, the driver shows devices, and nothing failed on the way.
bool worth_keeping(const std::vector<ChildOutcome>& outcomes) {
  for (const auto& outcome : outcomes) {
    const LibraryAnswers answers = read_answers(outcome);
    const bool cuda = &outcome == &outcomes.front();
    const bool absent = !cuda && answers.state == DynamicLibrary::State::missing;  // NVML may be
    if (answers.end != ChildOutcome::End::finished || !answers.failures.empty() || !answers.bad_count.empty())
      return false;
    if (!absent && !answers.initialised) return false;
    if (cuda && answers.devices.empty()) return false;
  }
  return true;
}

// The name of the first that differs, or empty.
std::string first_difference(const MachineState& before, const MachineState& now) {
  for (std::size_t i = 0; i < before.size() || i < now.size(); ++i) {
    if (i >= now.size()) return before[i][0];
    if (i >= before.size()) return now[i][0];
    // Of two lists of variables the one that has more names the variable.
    if (before[i][0] != now[i][0]) return before.size() > now.size() ? before[i][0] : now[i][0];
    if (before[i][1] != now[i][1]) return now[i][0];
  }
  return {};
}

struct CacheFile {
  bool whole = false;
  MachineState state, libraries;
  std::vector<ChildOutcome> outcomes;
};

CacheFile parse_cache(std::string_view text) {
  CacheFile cache;
  auto lines = split(text, '\n');
  if (lines.size() < 3 || lines[0] != kCacheSchema || lines[lines.size() - 2] != "end") return cache;
  for (const auto line : lines) {
    Record record = decode_record(line);
    if (record.size() == 3 && (record[0] == "state" || record[0] == "library")) {
      add_state(record[0] == "state" ? cache.state : cache.libraries, record[1], record[2]);
    } else if (record.size() == 2 && record[0] == "child") {
      cache.outcomes.emplace_back();
      cache.outcomes.back().end = ChildOutcome::End::finished;
      cache.outcomes.back().noise = record[1];
    } else if (record.size() >= 2 && record[0] == "record" && !cache.outcomes.empty()) {
      cache.outcomes.back().records.push_back(decode_record(line.substr(line.find('\t') + 1)));
    }
  }
  cache.whole = cache.outcomes.size() == 2;
  return cache;
}

}  // namespace

MachineState machine_state() {
  MachineState state;
  add_state(state, "the boot id", read_small_file("/proc/sys/kernel/random/boot_id"));
  add_state(state, "the kernel driver",
            read_small_file("/proc/driver/nvidia/version") + read_small_file("/sys/module/nvidia/version"));
  add_state(state, kDeviceNodes,
            stamps_in("/dev", {"nvidia", "dxg", "nvmap", "nvhost"}) + stamps_in("/dev/nvidia-caps", {""}));
  add_state(state, "the kernel driver's list of GPUs", gpus_of_kernel_driver());
  add_state(state, "arch_probe itself", file_stamp("/proc/self/exe"));
  add_state(state, "the user", user_identity());
  add_state(state, "the cgroup", read_small_file("/proc/self/cgroup"));
  for (const auto& variable : environment_with({"CUDA_", "NVIDIA_", "LD_"})) {
    const auto equals = variable.find('=');
    add_state(state, "the environment variable " + variable.substr(0, equals), variable.substr(equals + 1));
  }
  add_state(state, "a driver library", stamps_of_libraries());
  return state;
}

MachineState library_state(const std::vector<ChildOutcome>& outcomes) {
  MachineState state;
  for (const auto& outcome : outcomes) {
    const std::string path = read_answers(outcome).path;
    if (!path.empty()) add_state(state, path, file_stamp(path));
  }
  return state;
}

std::string read_cache(const std::string& file, const MachineState& now,
                       std::vector<ChildOutcome>& outcomes) {
  const std::string text = read_small_file(file);
  if (text.empty()) return "there is none yet";
  CacheFile cache = parse_cache(text);
  if (!cache.whole) return "it cannot be read";
  std::string changed = first_difference(cache.state, now);
  if (changed.empty()) changed = first_difference(cache.libraries, library_state(cache.outcomes));
  if (!changed.empty()) return changed + " changed";
  outcomes = std::move(cache.outcomes);
  return {};
}

void write_cache(const std::string& file, const MachineState& before,
                 const std::vector<ChildOutcome>& outcomes) {
  const MachineState after = machine_state();
  bool same = before.size() == after.size();
  for (std::size_t i = 0; same && i < after.size(); ++i)
    same = before[i][0] == after[i][0] && (before[i][1] == after[i][1] || after[i][0] == kDeviceNodes);
  if (!same || !worth_keeping(outcomes)) return remove_file(file);

  std::string text = encode_record({kCacheSchema});
  for (const auto& each : after) text += encode_record({"state", each[0], each[1]});
  for (const auto& each : library_state(outcomes)) text += encode_record({"library", each[0], each[1]});
  for (const auto& outcome : outcomes) {
    text += encode_record({"child", outcome.noise});
    for (const Record& record : outcome.records) text.append("record\t").append(encode_record(record));
  }
  if (!write_file(file, text + encode_record({"end"}))) remove_file(file);
}

}  // namespace archguard
