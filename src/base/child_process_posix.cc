#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"

namespace archguard {
namespace {

constexpr std::chrono::milliseconds kReapPatience{100};

int descriptor_of(std::intptr_t end) {
  return static_cast<int>(end);
}

void close_end(std::intptr_t& end) {
  if (end >= 0) ::close(descriptor_of(end));
  end = -1;
}

pid_t pid_of(std::intptr_t process) {
  return static_cast<pid_t>(process);
}

}  // namespace

std::string system_error_text(int code) {
  return std::strerror(code);
}

ChildPipe::~ChildPipe() {
  close_end(read_);
  close_end(write_);
}

// Above the standard streams: where these are closed, a child's would be set on its own pipe.
int ChildPipe::open() {
  int low[2];
  if (pipe(low) != 0) return errno;
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    const int high = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
    if (high < 0) failed = errno;
    ::close(low[i]);
    (i == 0 ? read_ : write_) = high;
  }
  if (failed == 0 && fcntl(descriptor_of(read_), F_SETFL, O_NONBLOCK) != 0) failed = errno;
  return failed;
}

void ChildPipe::close_write_end() {
  close_end(write_);
}

void ChildPipe::drain(std::string& text, std::size_t most) {
  std::array<char, 16384> chunk;
  for (int reads = 0; is_open() && reads < 64; ++reads) {
    const ssize_t count = ::read(descriptor_of(read_), chunk.data(), chunk.size());
    if (count > 0) {
      const std::size_t room = most > text.size() ? most - text.size() : 0;
      text.append(chunk.data(), std::min(static_cast<std::size_t>(count), room));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      if (count == 0 || errno != EAGAIN) close_end(read_);
      return;
    }
  }
}

ChildProcess::~ChildProcess() {
  if (process_ >= 0) waitpid(pid_of(process_), nullptr, WNOHANG);
}

int ChildProcess::start(const std::vector<std::string>& argv, const ChildPipe& out, const ChildPipe& err) {
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
  posix_spawn_file_actions_adddup2(&actions, descriptor_of(out.write_end()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, descriptor_of(err.write_end()), STDERR_FILENO);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) process_ = child;
  return failed;
}

void ChildProcess::adopt(std::intptr_t process, std::intptr_t) {
  process_ = process;
  setpgid(pid_of(process_), pid_of(process_));  // before anybody ends the group; the child does it, too
}

// It is not reaped: while it is not, its number is that of no other process or group.
std::optional<ChildEnd> ChildProcess::end() {
  if (end_ || process_ < 0) return end_;
  siginfo_t about{};
  if (waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) end_ = ChildEnd{ChildEnd::How::lost, 0};
  } else if (about.si_pid != 0) {
    end_ = ChildEnd{about.si_code == CLD_EXITED ? ChildEnd::How::exited : ChildEnd::How::crashed,
                    about.si_status};
  }
  return end_;
}

void ChildProcess::kill() {
  if (process_ < 0) return;
  ::kill(-pid_of(process_), SIGKILL);
  ::kill(pid_of(process_), SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + kReapPatience;
  while (!end() && std::chrono::steady_clock::now() < deadline) usleep(1000);
  if (end_ && waitpid(pid_of(process_), nullptr, WNOHANG) != 0) process_ = kNone;
}

// The end of the program counts, not that of its output, which something that it left behind may hold open:
// so the wait is for a short while.
void wait_for_child(std::initializer_list<const ChildPipe*> pipes, const ChildProcess&,
                    std::chrono::milliseconds most) {
  constexpr std::size_t kPipesMost = 16;
  constexpr std::chrono::milliseconds kShort{10}, kEnding{2};
  pollfd ends[kPipesMost];
  nfds_t count = 0;
  bool is_ending = false;
  for (const ChildPipe* pipe : pipes) {
    if (pipe->is_open() && count < kPipesMost) ends[count++] = {descriptor_of(pipe->read_end()), POLLIN, 0};
    is_ending |= !pipe->is_open();
  }
  const auto patience = std::max(std::chrono::milliseconds(0), std::min(most, is_ending ? kEnding : kShort));
  poll(ends, count, static_cast<int>(patience.count()));
}

}  // namespace archguard
