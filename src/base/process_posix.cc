#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"

namespace archguard {
namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr std::size_t kMostProcessOutput = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kProcessPollEvery{10};
constexpr std::chrono::milliseconds kProcessKillGrace{500};

// A pipe whose reading end does not block; the child gets `write_end` only.
struct ProcessPipe {
  int read_end = -1;
  int write_end = -1;

  ProcessPipe() = default;
  ProcessPipe(const ProcessPipe&) = delete;
  ProcessPipe& operator=(const ProcessPipe&) = delete;
  ~ProcessPipe() {
    close_end(read_end);
    close_end(write_end);
  }

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return fcntl(read_end, F_SETFL, O_NONBLOCK) == 0;
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// Takes what the pipe holds now; closes it at its end or on an error. A writer that never pauses must not
// hold the caller past its deadline, so one call takes a few times what a pipe holds, no more.
void drain_process_pipe(ProcessPipe& pipe, std::string& text) {
  std::array<char, 16384> chunk;
  for (int reads = 0; pipe.read_end >= 0 && reads < 64; ++reads) {
    const ssize_t count = ::read(pipe.read_end, chunk.data(), chunk.size());
    if (count > 0) {
      text.append(chunk.data(), std::min(static_cast<std::size_t>(count), kMostProcessOutput - text.size()));
    } else {
      if (count == 0 || (errno != EAGAIN && errno != EINTR)) ProcessPipe::close_end(pipe.read_end);
      return;
    }
  }
}

// The new process starts with the default signals, whatever the caller ignores or blocks.
int spawn_process(const std::vector<std::string>& argv, int out, int err, pid_t& child) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (const int failed = posix_spawn_file_actions_init(&actions)) return failed;
  posix_spawnattr_t attributes;
  if (const int failed = posix_spawnattr_init(&attributes)) {
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  const int failed = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

}  // namespace

Result<ProcessOutcome> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout) {
  if (argv.empty() || argv[0].empty()) return Error{"", "there is no program to run", ""};
  ProcessPipe out, err;
  if (!out.open() || !err.open())
    return Error{argv[0], std::string("cannot make a pipe: ") + std::strerror(errno), ""};

  auto deadline = ProcessClock::now() + timeout;
  pid_t child = -1;
  if (const int failed = spawn_process(argv, out.write_end, err.write_end, child))
    return Error{argv[0], std::string("cannot be run: ") + std::strerror(failed), ""};
  ProcessPipe::close_end(out.write_end);
  ProcessPipe::close_end(err.write_end);

  // The end of the program counts, not that of its output: something it left behind may hold the pipes open.
  // So the wait is for output or a short while, whichever comes first, and then for the status.
  ProcessOutcome outcome;
  for (;;) {
    pollfd ends[2] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    poll(ends, 2, static_cast<int>(kProcessPollEvery.count()));
    int status = 0;
    const pid_t reaped = waitpid(child, &status, WNOHANG);
    const bool lost = reaped < 0 && errno != EINTR;
    drain_process_pipe(out, outcome.out);
    drain_process_pipe(err, outcome.err);
    if (lost && !outcome.timed_out)  // the caller's parent had SIGCHLD ignored
      return Error{argv[0], "its exit status was lost", "run this with SIGCHLD at its default"};
    if (reaped == child && WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    if (reaped == child && WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
    if (reaped == child || lost) return outcome;
    if (ProcessClock::now() < deadline) continue;
    if (outcome.timed_out) return outcome;
    outcome.timed_out = true;
    kill(-child, SIGKILL);
    deadline = ProcessClock::now() + kProcessKillGrace;
  }
}

bool is_program(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const auto folder : split(path != nullptr ? path : "", ':')) {
    std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (path != nullptr && is_program(candidate)) return candidate;
  }
  return {};
}

}  // namespace archguard
