#include "played_machine.h"

const std::string kCudaPath = FAKE_DRIVER "/cuda/libcuda.so.1";
const std::string kNvmlPath = FAKE_DRIVER "/nvml/libnvidia-ml.so.1";

// NVML counts by PCI order, CUDA by speed: the two orders differ.
const char kTwoGpus[] =
    "driver 580.95.05\n"
    "cuda 13000\n"
    "device cc=9.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000002 pci=0000:5E:00.0 nvml=2 name=NVIDIA H100\n"
    "device cc=8.0 uuid=GPU-aaaaaaaa-0000-0000-0000-000000000001 pci=0000:3B:00.0 nvml=1 name=NVIDIA A100\n";

std::map<std::string, std::string> PlayedMachine::environment() const {
  std::map<std::string, std::string> env = env_;
  env["ARCHGUARD_FAKE_MACHINE"] = folder_.path() + "/machine";
  env["ARCHGUARD_FAKE_ROOT"] = folder_.path() + "/root";
  env["LD_PRELOAD"] = FAKE_DRIVER "/files/libfake_files.so.1";
  env["ASAN_OPTIONS"] = "verify_asan_link_order=0";  // of a build with AddressSanitizer
  env["LD_LIBRARY_PATH"] =
      (cuda_ ? FAKE_DRIVER "/cuda:" : std::string()) + (nvml_ ? FAKE_DRIVER "/nvml" : "");
  const auto path = env_.find("LD_LIBRARY_PATH");
  if (path != env_.end()) env["LD_LIBRARY_PATH"] = path->second + ":" + env["LD_LIBRARY_PATH"];
  return env;
}

RunOutput PlayedMachine::run(const std::vector<std::string>& arguments) const {
  return run_probe(arguments, environment());
}

RunOutput run_probe(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& env,
                    const std::string& folder) {
  std::vector<std::string> argv = {ARCH_PROBE};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process(argv, env, folder);
}

std::string json_line(const std::string& document, const std::string& key) {
  const auto at = document.find("\n  \"" + key + "\": ");
  if (at == std::string::npos) return "(no " + key + ")";
  return document.substr(at + 3, document.find('\n', at + 1) - at - 3);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}
