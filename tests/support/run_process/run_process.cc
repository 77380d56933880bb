#include "support/run_process/run_process.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLongest = std::chrono::seconds(60);

bool steers_archguard(const std::string& name) {
  for (const char* prefix : {"ARCHGUARD_", "CUDA_", "NVIDIA_", "CLICOLOR"})
    if (name.compare(0, std::strlen(prefix), prefix) == 0) return true;
  return name == "CUDAARCHS" || name == "NO_COLOR" || name == "FORCE_COLOR";
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& env) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string text = *line;
    const std::string name = text.substr(0, text.find('='));
    if (!steers_archguard(name) && env.count(name) == 0) lines.push_back(text);
  }
  for (const auto& [name, value] : env) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// Appends what is there; false at the end of the stream.
bool drain(int descriptor, std::string& text) {
  char buffer[65536];
  const ssize_t count = read(descriptor, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

RunOutput run_process(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
                      const std::string& folder) {
  std::vector<std::string> arguments = argv, variables = environment_with(env);
  std::vector<char*> argument_list = pointers(arguments), variable_list = pointers(variables);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
    return {-1, "", "pipe: " + std::string(strerror(errno))};

  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    if (folder.empty() || chdir(folder.c_str()) == 0)
      execvpe(argument_list[0], argument_list.data(), variable_list.data());
    dprintf(2, "%s: %s\n", argument_list[0], strerror(errno));
    _exit(127);
  }
  close(out[1]);
  close(err[1]);

  RunOutput result;
  const auto deadline = Clock::now() + kLongest;
  bool late = child < 0;
  pollfd streams[] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while (!late && (streams[0].fd >= 0 || streams[1].fd >= 0)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    late = left <= 0 || poll(streams, 2, static_cast<int>(left)) == 0;
    if (streams[0].revents != 0 && !drain(out[0], result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err[0], result.err)) streams[1].fd = -1;
  }
  close(out[0]);
  close(err[0]);
  if (child < 0) return {-1, "", "fork: " + std::string(strerror(errno))};
  if (late) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) {
    result.err += "(killed: no end within a minute)\n";
  } else {
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "archguard-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& content) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "(cannot read " + path + ")";
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
