#pragma once

#include <map>
#include <string>
#include <vector>

// What a process printed and how it ended.
struct RunOutput {
  int exit_code = -1;  // 128+N where signal N ended it; -1 where it did not start or ran past a minute (then
                       // `err` says so)
  std::string out, err;
};

// Runs argv[0] (a path, or a name looked up on PATH) and waits for it, a minute at most. `env` is set on top
// of this process's environment, from which all that steers ArchGuard or its colours is removed first:
// ARCHGUARD_*, CUDA_*, NVIDIA_*, CUDAARCHS, NO_COLOR, CLICOLOR*, FORCE_COLOR. `folder` is the working folder,
// unless empty.
RunOutput run_process(const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& env = {}, const std::string& folder = {});

// A new empty folder that lives as long as the object. `file` writes a file there and returns its path.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

// The whole content of a file, or "(cannot read PATH)".
std::string file_content(const std::string& path);
