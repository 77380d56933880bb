#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/run_process/run_process.h"

// Runs arch_probe on a machine that the fake driver libraries play.
class PlayedMachine {
 public:
  // `machine`: see tests/support/fake_driver/machine.h.
  explicit PlayedMachine(const std::string& machine) { folder_.file("machine", machine); }

  PlayedMachine& without_nvml() {
    nvml_ = false;
    return *this;
  }
  PlayedMachine& without_cuda() {
    cuda_ = false;
    return *this;
  }
  // A file of the kernel's or the driver's, such as /proc/driver/nvidia/version (see fake_driver/files.cc).
  PlayedMachine& with_file(const std::string& path, const std::string& content) {
    folder_.file("root" + path, content);
    return *this;
  }
  const std::string& folder() const { return folder_.path(); }
  // LD_LIBRARY_PATH comes before the folders of the played drivers.
  PlayedMachine& with(const std::string& variable, const std::string& value) {
    env_[variable] = value;
    return *this;
  }
  void without(const std::string& variable) { env_.erase(variable); }
  // From now on it plays another machine.
  void becomes(const std::string& machine) { folder_.file("machine", machine); }
  std::map<std::string, std::string> environment() const;
  RunOutput run(const std::vector<std::string>& arguments) const;

 private:
  TemporaryFolder folder_;
  bool cuda_ = true, nvml_ = true;
  std::map<std::string, std::string> env_;
};

// arch_probe on this machine as it is, with nothing played.
RunOutput run_probe(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& env = {}, const std::string& folder = {});

// The text of one member of a JSON document, from its key to the end of the line.
std::string json_line(const std::string& document, const std::string& key);

std::string replaced(std::string text, const std::string& what, const std::string& by);

extern const char kTwoGpus[];
extern const std::string kCudaPath;  // of the fake libcuda, as the loader finds it
extern const std::string kNvmlPath;
